/** A list of objects as one small form each, or as JSON; both edit the same value. */
import { Braces, Plus, Rows3, Trash2 } from "lucide-react";
import { useId, useState } from "react";
import { ListField } from "../../components/ListField";
import type { Value } from "../../ipc/client";
import { useSettingsForm } from "./form";
import { ListAsJson } from "./ListAsJson";
import type { ItemField, ItemsForm } from "./parts";

type Item = { [key: string]: Value };

interface ItemListProps {
  path: string;
  label: string;
  form: ItemsForm;
  value: Value[];
  onChange: (value: Value[]) => void;
}

export function ItemList({ path, label, form, value, onChange }: ItemListProps) {
  const { discarded } = useSettingsForm();
  const [asJson, setAsJson] = useState(false);
  const items = value as Item[];
  return (
    <div className="field items" role="group" aria-label={label}>
      <span className="field-label">{label}</span>
      {asJson ? (
        <ListAsJson
          path={path}
          label={label}
          name={`settings.${path}.${discarded}`}
          value={items}
          onChange={onChange}
        />
      ) : (
        <>
          {items.length === 0 && <p className="muted">None.</p>}
          {items.map((item, at) => (
            <ItemForm
              key={at}
              form={form}
              item={item}
              onChange={(next) => onChange(items.map((old, i) => (i === at ? next : old)))}
              onRemove={() => onChange(items.filter((_, i) => i !== at))}
            />
          ))}
        </>
      )}
      <div className="items-foot">
        {!asJson && (
          <button
            type="button"
            className="button small"
            data-testid={`add-${path}`}
            onClick={() => onChange([...items, form.fresh as Item])}
          >
            <Plus size={12} aria-hidden /> Add a{/^[aeiou]/.test(form.one) && "n"} {form.one}
          </button>
        )}
        <button
          type="button"
          className="button small"
          data-testid={`as-json-${path}`}
          onClick={() => setAsJson(!asJson)}
        >
          {asJson ? <Rows3 size={12} aria-hidden /> : <Braces size={12} aria-hidden />}{" "}
          {asJson ? "As forms" : "As JSON"}
        </button>
      </div>
    </div>
  );
}

interface ItemFormProps {
  form: ItemsForm;
  item: Item;
  onChange: (item: Item) => void;
  onRemove: () => void;
}

function ItemForm({ form: { one, fields, fresh }, item, onChange, onRemove }: ItemFormProps) {
  const name = String(item[fields[0]!.key] ?? "");
  return (
    <div className="item" role="group" aria-label={`${one} ${name}`}>
      {fields.map((field) => (
        <ItemControl
          key={field.key}
          field={field}
          value={item[field.key] ?? null}
          onChange={(value) => {
            // Where nothing is null and not an empty text, it stays so.
            const none = value === "" && (fresh as Item)[field.key] === null;
            onChange({ ...item, [field.key]: none ? null : value });
          }}
        />
      ))}
      <button
        type="button"
        className="icon-button item-remove"
        aria-label={`Remove the ${one} ${name}`}
        title={`Remove the ${one}`}
        onClick={onRemove}
      >
        <Trash2 size={13} />
      </button>
    </div>
  );
}

interface ItemControlProps {
  field: ItemField;
  value: Value;
  onChange: (value: Value) => void;
}

function ItemControl({ field, value, onChange }: ItemControlProps) {
  const { kind, label, placeholder } = field;
  const id = useId();
  if (kind === "toggle")
    return (
      <label className="check">
        <input type="checkbox" checked={value === true} onChange={(e) => onChange(e.target.checked)} />
        {label}
      </label>
    );
  if (kind === "list" || kind === "lines")
    return (
      <ListField
        label={label}
        value={Array.isArray(value) ? (value as string[]) : []}
        placeholder={placeholder ?? "none"}
        mono
        lines={kind === "lines"}
        onChange={onChange}
      />
    );
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {kind === "choice" ? (
        <select id={id} value={String(value ?? "")} onChange={(e) => onChange(e.target.value)}>
          {field.options.map(([v, word]) => (
            <option key={v} value={v}>
              {word}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          value={String(value ?? "")}
          placeholder={placeholder}
          onChange={(e) => onChange(e.target.value)}
        />
      )}
    </div>
  );
}
