import { SettingField } from "./Fields";
import { useSettingsForm } from "./form";
import { names } from "./parts";

const ALLOWED = names("policy.allowed" as "policy.denied", "Allowed tools", {
  testId: "settings-allowed",
  placeholder: "nothing is allowed",
});

/** No list, which allows every tool, or a list, which may be empty. */
export function AllowList() {
  const { settings, change } = useSettingsForm();
  const { policy } = settings;
  return (
    <>
      <label className="check">
        <input
          type="checkbox"
          data-testid="settings-allow-list"
          checked={policy.allowed !== null}
          onChange={(e) => change({ ...settings, policy: { ...policy, allowed: e.target.checked ? [] : null } })}
        />
        Only tools of an allow-list
      </label>
      {policy.allowed !== null && <SettingField part={ALLOWED} />}
    </>
  );
}
