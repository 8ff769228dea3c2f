// Orders the rows of a file for writing: some thousand at a time by their addresses, so that the
// rows of a transaction share pages of the index of addresses. In random order each row needs a
// separate page, which costs 40 µs a row in the store instead of 20. Rows of the same person keep
// their order, because a later row overrides an earlier row.

/** Rows that a transaction writes at a time. */
export const rowsPerBatch = 500;

/** A row with all names (addresses and external id) of the person. */
export interface NamedRow {
  /** Number of the data row, from 1. */
  row: number;
  /** Addresses, each by `foldAddress`, and the external id by `nameOfExternalId`. */
  names: readonly string[];
  /** Sort key that `inBatches` sets: the first name of the person in the window. */
  place: string;
}

/** A valid row as JSON text: in a window, thousands of objects would take more memory. */
export interface WritableRow extends NamedRow {
  json: string;
}

/** Rows that are written together, in the order of the file. */
export interface Batch<Row> {
  rows: Row[];
  /** Shared `place` of the rows, if a person has more rows than a batch; else null. */
  place: string | null;
}

/** Turns an external id into a name that differs from every address: no address ends in `@`. */
export function nameOfExternalId(externalId: string): string {
  return `${externalId}@`;
}

/** Returns the external id that a name stands for. Null for an address. */
function externalIdOf(name: string): string | null {
  return name.endsWith('@') ? name.slice(0, -1) : null;
}

/** A batch as JSON texts: passing text between threads costs a third of cloning objects. */
export interface ReadBatch {
  candidates: string;
  /** Addresses in the rows, each by `foldAddress`. */
  addresses: string;
  externalIds: string;
  /** Shared `place` of the rows; null for rows of several places. */
  place: string | null;
}

export function readBatch({ rows, place }: Batch<WritableRow>): ReadBatch {
  const addresses: string[] = [];
  const externalIds: string[] = [];
  for (const name of rows.flatMap(({ names }) => names)) {
    const externalId = externalIdOf(name);
    if (externalId === null) addresses.push(name);
    else externalIds.push(externalId);
  }
  return {
    candidates: `[${rows.map(({ json }) => json).join()}]`,
    addresses: JSON.stringify(addresses),
    externalIds: JSON.stringify(externalIds),
    place,
  };
}

const nobody: ReadonlyMap<string, string> = new Map();

/**
 * Splits rows into batches in the order of writing. Rows of the same person share a batch, or are
 * in consecutive batches. `contactOf` maps a name to the id of an existing contact. Sorts `rows`
 * and sets `place` of each row.
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

/**
 * Makes a batch of rows with different `place` in the order of the file: two places can belong to
 * the same existing contact.
 */
function mixed<Row extends NamedRow>(rows: Row[]): Batch<Row> {
  return { rows: rows.sort((a, b) => a.row - b.row), place: null };
}

/** Splits rows with the same `place` into batches. */
function cut<Row extends NamedRow>(rows: readonly Row[], most: number): Batch<Row>[] {
  const count = Math.ceil(rows.length / most);
  return Array.from({ length: count }, (_, at) => {
    const part = rows.slice(at * most, (at + 1) * most);
    return { rows: part, place: part[0]?.place ?? null };
  });
}

/** Sets `place` of all rows of a person to the same text: the first name of the person. */
function place(rows: readonly NamedRow[], contactOf: ReadonlyMap<string, string>): void {
  const people = new SameNames();
  for (const { names } of rows) {
    const contacts = contactOf.size > 0 ? names.flatMap((name) => contactOf.get(name) ?? []) : [];
    if (names.length + contacts.length > 1) people.join([...names, ...contacts]);
  }
  for (const row of rows) row.place = people.firstOf(row.names[0] ?? '');
}

/** Groups the names of a person under the first name (union-find). */
class SameNames {
  /** Maps a name to the next name on the path to the first name. The first name maps to itself. */
  readonly #toward = new Map<string, string>();

  firstOf(name: string): string {
    let first = name;
    for (let next = this.#next(first); next !== first; next = this.#next(first)) first = next;
    // Compresses the path, so that later look-ups are short.
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
