// Every small change of a JSON document: each string, number, null and list of it, one at a time.

/** A document that differs from its original in one place. */
export interface Change {
  /** Place of the change, such as `events.0.facts.reply`. */
  at: string;
  value: unknown;
}

/** Returns variants of a value that differ by a bit, a digit or an entry. */
function variantsOf(value: unknown): unknown[] {
  if (typeof value === 'string') return [flipped(value), `${value}x`];
  if (typeof value === 'number') return [value + 1];
  if (value === null) return ['x', 0];
  if (Array.isArray(value)) return value.length === 0 ? [] : [value.slice(1), value.slice(0, -1)];
  return [];
}

/** Changes the lowest bit of the last character that stays of its kind: a digit, a letter or another. */
function flipped(text: string): string {
  if (text === '') return 'x';
  const at = Math.floor(text.length / 2);
  const code = text.charCodeAt(at);
  return text.slice(0, at) + String.fromCharCode(code ^ 1) + text.slice(at + 1);
}

/** Returns every variant of a document, each with its place. */
export function everyChange(whole: unknown, at: readonly string[] = []): Change[] {
  const own = variantsOf(whole).map((value) => ({ at: at.join('.'), value }));
  if (typeof whole !== 'object' || whole === null) return own;
  const inside = Object.entries(whole).flatMap(([name, part]) =>
    everyChange(part, [...at, name]).map((change) => {
      const copy = Array.isArray(whole) ? [...whole] : { ...whole };
      Object.assign(copy, { [name]: change.value });
      return { at: change.at, value: copy };
    }),
  );
  const without = Object.keys(whole).map((name) => {
    const { [name]: _, ...rest } = whole as Record<string, unknown>;
    return { at: [...at, name, '(removed)'].join('.'), value: rest };
  });
  return [...own, ...inside, ...(Array.isArray(whole) ? [] : without)];
}
