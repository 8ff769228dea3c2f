// Each deletion by age asks the clock whether it is right (timeOfAge). The statements are found in
// the sources: those that delete rows before a time, or an id, that the caller gives.
import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

type File = readonly [path: string, text: string];

const files: readonly File[] = globSync(['src/**/*.ts', 'daemon/**/*.ts', 'commands/**/*.ts'])
  .filter((path) => !path.includes('/migrations/'))
  .map((path) => [path, readFileSync(path, 'utf8')]);

/** Deletions before a time that are no retention, with their reasons. */
const exceptions: Readonly<Record<string, string>> = {
  deleteLaneStatesBefore: 'reports of lanes are written anew each second',
};

/** Tells whether a function deletes rows before a limit, or reads old rows to delete them. */
function deletesByAge(name: string, part: string): boolean {
  const limit = /'<=?', (?:\w+\.)?\w*(?:before|Before|now|limit)\b|<=? \$\{/;
  const isDeletion = /^(?:delete|forget)/.test(name) && /deleteFrom\(|delete from/.test(part);
  const [head = ''] = part.split(/=>|\{\n/);
  const isOfOld =
    /old|Old|Deleted|Unused|Ended/.test(name) && /\b(?:before|time)\w*: number/.test(head);
  return (isDeletion && limit.test(part)) || isOfOld;
}

/** Returns the names of exported functions that delete by age. */
function deletionsIn(text: string): string[] {
  return text.split(/\n(?=export (?:async )?(?:function|const) )/).flatMap((part) => {
    const [, name = ''] = /^export (?:async )?(?:function|const) (\w+)/.exec(part) ?? [];
    return deletesByAge(name, part) ? name : [];
  });
}

/** Returns deletions that a file calls without the time of age, as `path name`. */
function untimed(all: readonly File[]): string[] {
  const names = all.flatMap(([, text]) => deletionsIn(text)).filter((name) => !exceptions[name]);
  return all.flatMap(([path, text]) =>
    names
      .filter((name) => new RegExp(`(?<!function |const )\\b${name}\\(`).test(text))
      .filter(() => !text.includes('timeOfAge('))
      .map((name) => `${path} ${name}`),
  );
}

it('finds a planted deletion by age', () => {
  const planted: File[] = [
    [
      'queries.ts',
      "\nexport const deleteOldParcels = own.run((db, before: number) =>\n  db.deleteFrom('parcels').where('at', '<', before));",
    ],
    ['parcels.ts', 'await deleteOldParcels(trx, clock.now() - keptMs);'],
  ];
  expect(untimed(planted)).toEqual(['parcels.ts deleteOldParcels']);
});

it('finds no deletion by age that trusts a wrong clock', () => {
  const names = new Set(files.flatMap(([, text]) => deletionsIn(text)));
  expect(names.size).toBeGreaterThan(9);
  expect(untimed(files)).toEqual([]);
});
