// All statements of the service that are compiled once, as text, for both engines. `vi.mock` of
// statement.ts catches them (statements.test.ts).
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Db } from '../../../../src/platform/store/db.ts';
import { placeholder } from '../../../../src/platform/store/rows/placeholder.ts';

export type Build = (db: Db, ...args: unknown[]) => { compile(): { sql: string } };

/** Imports every file that declares statements. */
export async function importStatements(root: string): Promise<void> {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(root, name))
    .filter((file) => /\bownTables</.test(readFileSync(file, 'utf8')))
    .toSorted();
  for (const file of files) await import(file);
}

/** Compiles statements for the engine of `db`. Returns each text once, in their order. */
export function textsOf(builds: readonly Build[], db: Db): string[] {
  const texts = builds.map((build) => {
    const args = Array.from({ length: build.length - 1 }, (_, at) =>
      placeholder((given) => given[at]),
    );
    return build(db, ...args)
      .compile()
      .sql.replace(/\s+/g, ' ');
  });
  return [...new Set(texts)].toSorted();
}
