// Pages of the console and tools of MCP ask routes. None of them calls a function of src/ that
// takes the App or the store: it would go past the door. Only doors/ and person/ of the console do,
// since sessions and persons have no routes.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';

const faces = globSync(['daemon/console/pages/**/*.ts', 'daemon/console/*.ts', 'daemon/mcp/*.ts']);
/** Files of a face that begin its work: they sign in, open streams, or start a command. */
const roots = [
  'daemon/console/console.ts',
  'daemon/console/signed-in.ts',
  'daemon/console/live.ts',
  'daemon/mcp/command.ts',
];

/** Returns the names that a file imports from src/ at run time, with the files that have them. */
function importsOf(file: string, text: string): { name: string; from: string }[] {
  return [...text.matchAll(/^import (?!type)(?:\{([^}]*)\}|\* as (\w+)) from '(\.[^']*)';/gms)]
    .map(([, names = '', all, path = '']) => ({
      names: all === undefined ? names.split(',').map((one) => one.trim()) : ['*'],
      from: relative('.', join(dirname(file), path)),
    }))
    .filter(({ from }) => from.startsWith('src/'))
    .flatMap(({ names, from }) =>
      names
        .filter((name) => name !== '' && !name.startsWith('type '))
        .map((name) => ({ name: name.split(' as ')[0] ?? name, from })),
    );
}

/**
 * Returns whether a file declares the name with an App or a store among the parameters, or as a
 * statement of SQL.
 */
function takesApp(from: string, name: string): boolean {
  const text = readFileSync(from, 'utf8');
  const isValue = new RegExp(`^export const ${name}\\b[^=]*= [[{]`, 'm').test(text);
  if (from.endsWith('queries.ts')) return !isValue;
  const declared = new RegExp(
    `^export (?:async )?(?:function\\*? ${name}\\b|const ${name}\\b)[^{=]*?[(<](.*?)(?:\\n\\}|\\n\\n|$(?![\\s\\S]))`,
    'ms',
  ).exec(text)?.[0];
  const head = declared?.split(/\) *(?::[^{]*)?(?:=>|\{)/)[0] ?? '';
  return /:\s*(?:Pick<)?(?:App|Db|Store)\b/.test(head);
}

function past(file: string, text: string): string[] {
  return importsOf(file, text)
    .filter(({ name, from }) => name === '*' || takesApp(from, name))
    .map(({ name, from }) => `${file}: ${name} of ${from}`);
}

it('no page and no tool goes past the door', () => {
  const checked = faces.filter((file) => !roots.includes(file));
  expect(checked.length).toBeGreaterThan(40);
  expect(checked.flatMap((file) => past(file, readFileSync(file, 'utf8')))).toEqual([]);
});

it.each([
  ["import { importBlocks } from '../../../src/people/imports/blocks.ts';", 'importBlocks'],
  ["import { getPlanState } from '../../../src/access/admission/plan-state.ts';", 'getPlanState'],
  [
    "import { findDeliveries } from '../../../src/outbound/deliveries/queries.ts';",
    'findDeliveries',
  ],
  ["import * as queries from '../../../src/people/blocks/queries.ts';", '*'],
  [
    "import {\n  type MessageExplanation,\n  explainMessage,\n} from '../../../src/outbound/explain/explain.ts';",
    'explainMessage',
  ],
])('finds a planted import: %s', (line, name) => {
  expect(past('daemon/console/pages/planted.ts', `${line}\n`)).toEqual([
    expect.stringContaining(`: ${name} of src/`),
  ]);
});
