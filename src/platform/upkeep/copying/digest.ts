// Digests of tables, equal on both engines for equal rows, which prove that a copy is complete. The
// digest of a table is the sum of the SHA-256 of all rows, so that the order of the rows does not
// matter.
import { hash } from 'node:crypto';
import { withoutNul } from '../../store/rows/without-nul.ts';

/** Content of a table: the number of rows and their digest in hex. */
export interface TableDigest {
  table: string;
  rows: number;
  digest: string;
}

const modulus = 1n << 256n;

/** Computes the digest of a table from the rows. */
export class DigestOfTable {
  readonly #table: string;
  readonly #order: readonly number[];
  #rows = 0;
  #sum = 0n;

  /** `columns` are in the order of the values of a row. */
  constructor(table: string, columns: readonly string[]) {
    this.#table = table;
    const names = columns.map((name, index) => ({ name, index }));
    this.#order = names.sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ index }) => index);
  }

  add(values: readonly unknown[]): void {
    this.#rows += 1;
    const row = JSON.stringify(this.#order.map((index) => canonical(values[index])));
    this.#sum = (this.#sum + BigInt(`0x${hash('sha256', row)}`)) % modulus;
  }

  result(): TableDigest {
    const digest = this.#sum.toString(16).padStart(64, '0');
    return { table: this.#table, rows: this.#rows, digest };
  }
}

/**
 * Returns a value that is the same for both engines: bytes differ from a text, an integer is a
 * number, and a text has no NUL, which PostgreSQL cannot store.
 */
function canonical(value: unknown): unknown {
  if (value instanceof Uint8Array) return { bytes: hash('sha256', value) };
  if (typeof value === 'bigint') return Number(value);
  return withoutNul(value ?? null);
}

/**
 * Returns a phrase for each table that differs, with the name and the rows. Both lists have the
 * same tables.
 */
export function differences(one: readonly TableDigest[], two: readonly TableDigest[]): string[] {
  return one.flatMap(({ table, rows, digest }) => {
    const other = two.find((candidate) => candidate.table === table);
    if (other?.digest === digest && other.rows === rows) return [];
    return `${table}: ${rows} rows here, ${other?.rows ?? 'no'} there${other?.rows === rows ? ' with another content' : ''}`;
  });
}
