/** Long work of the in-browser host: it takes three seconds, unless it is called off. */
import type { LongWork, WorkAdvanced, WorkKind } from "../client";

const STEPS = 30;
const TICK_MS = 100;

export class FakeWorks {
  private works: (LongWork & { off: boolean })[] = [];
  private readonly listeners = new Set<(advanced: WorkAdvanced) => void>();
  private last = 0;

  list = (): LongWork[] => this.works.map(({ off: _, ...work }) => work);

  cancel(id: number) {
    for (const work of this.works) if (work.id === id) work.off = true;
  }

  async listen(listener: (advanced: WorkAdvanced) => void) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Whether it came to its end. */
  async do(kind: WorkKind, label: string): Promise<boolean> {
    const work = { id: ++this.last, kind, label, done: 0, total: 34_000_000, off: false };
    this.works.push(work);
    for (let i = 0; i < STEPS && !work.off; i++) {
      work.done = (work.total * i) / STEPS;
      this.tell();
      await new Promise((then) => setTimeout(then, TICK_MS));
    }
    this.works = this.works.filter((w) => w !== work);
    this.tell();
    return !work.off;
  }

  private tell() {
    for (const listener of this.listeners) listener({ works: this.list() });
  }
}
