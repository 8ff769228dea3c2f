// In which order the rows of a file are written: some thousand at a time by their addresses, so that those of one
// transaction meet the same pages of the index of addresses. In no order each row meets one of its own, which
// costs 40 µs a row in the store in place of 20. Rows that name the same person keep their order: the later is
// laid over the earlier.

/** Rows of one transaction. */
export const rowsPerBatch = 500;

/** A row, by what names its person. */
export interface NamedRow {
  /** Data rows from 1. */
  row: number;
  /** Its addresses, each by `foldAddress`, and its external id by `nameOfExternalId`. */
  names: readonly string[];
  /** Where it stands in the order, which `inBatches` finds. */
  place: string;
}

/** Rows that are written together, in the order of the file. */
export interface Batch<Row> {
  rows: Row[];
  /** Of more rows of one place than a batch holds: their place. */
  place: string | null;
}

/** No address ends so. */
export function nameOfExternalId(externalId: string): string {
  return `${externalId}@`;
}

/** What was named so; null: it is an address. */
export function externalIdOf(name: string): string | null {
  return name.endsWith('@') ? name.slice(0, -1) : null;
}

const nobody: ReadonlyMap<string, string> = new Map();

/**
 * The rows in batches, in the order in which they are written: rows of one person share one, or follow each
 * other. `contactOf`: which contact that is there has a name. Moves `rows`, and their places.
 */
export function inBatches<Row extends NamedRow>(
  rows: Row[],
  contactOf = nobody,
  most = rowsPerBatch,
): Batch<Row>[] {
  if (rows.length === 0) return [];
  if (rows.length <= most) return [{ rows, place: null }];
  place(rows, contactOf);
  rows.sort((a, b) => (a.place < b.place ? -1 : a.place > b.place ? 1 : a.row - b.row));
  const batches: Batch<Row>[] = [];
  let begin = 0;
  for (let at = 0; at < rows.length; ) {
    const end = endOfPlace(rows, at);
    if (at > begin && end - begin > most) {
      batches.push(mixed(rows.slice(begin, at)));
      begin = at;
    }
    if (end - begin > most) {
      batches.push(...cut(rows.slice(begin, end), most));
      begin = end;
    }
    at = end;
  }
  if (begin < rows.length) batches.push(mixed(rows.slice(begin)));
  return batches;
}

function endOfPlace(rows: readonly NamedRow[], from: number): number {
  let end = from + 1;
  while (rows[end]?.place === rows[from]?.place) end++;
  return end;
}

/** Who is there already and is named in two ways has rows of two places: those keep the order of the file. */
function mixed<Row extends NamedRow>(rows: Row[]): Batch<Row> {
  return { rows: rows.sort((a, b) => a.row - b.row), place: null };
}

/** Rows of one place. */
function cut<Row extends NamedRow>(rows: readonly Row[], most: number): Batch<Row>[] {
  const count = Math.ceil(rows.length / most);
  return Array.from({ length: count }, (_, at) => {
    const part = rows.slice(at * most, (at + 1) * most);
    return { rows: part, place: part[0]?.place ?? null };
  });
}

/** Rows of one person, by any of its names, get one place: the first name that the file says. */
function place(rows: readonly NamedRow[], contactOf: ReadonlyMap<string, string>): void {
  const people = new SameNames();
  for (const { names } of rows) {
    const contacts = contactOf.size > 0 ? names.flatMap((name) => contactOf.get(name) ?? []) : [];
    if (names.length + contacts.length > 1) people.join([...names, ...contacts]);
  }
  for (const row of rows) row.place = people.firstOf(row.names[0] ?? '');
}

/** Names of one person, all of which stand for the first of them (union-find). */
class SameNames {
  /** That itself stands for itself. */
  readonly #toward = new Map<string, string>();

  firstOf(name: string): string {
    let first = name;
    for (let next = this.#next(first); next !== first; next = this.#next(first)) first = next;
    // The way is long once.
    for (let at = name; at !== first; ) {
      const next = this.#next(at);
      this.#toward.set(at, first);
      at = next;
    }
    return first;
  }

  join(names: readonly string[]): void {
    const known = names.find((name) => this.#toward.has(name));
    const first = this.firstOf(known ?? names[0] ?? '');
    for (const name of names) this.#toward.set(this.firstOf(name), first);
  }

  #next(name: string): string {
    return this.#toward.get(name) ?? name;
  }
}
