// Part of `npm run check`: no pattern grows faster than its input. Asks recheck about new patterns
// only, and fails on one without a verdict, and on a verdict whose pattern is gone. `npm run
// patterns` writes the verdicts of new ones, and `npm run patterns -- --all` asks about all of them
// anew.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { check } from 'recheck';
import { compare, readVerdicts, takeInventory, type Verdicts, verdictsFile } from './verdicts.ts';

const timeoutMs = 20_000;
const head = `# Verdicts of all regular expressions of the source, by literal: "safe" by recheck, or the bounded input
# (bounded-inputs.ts) at which a test attacks it. Written by \`npm run patterns\`.
`;

/** Returns null for a safe pattern, else its growth, with the beginning of an attack. */
async function dangerOf(literal: string): Promise<string | null> {
  const end = literal.lastIndexOf('/');
  const found = await check(literal.slice(1, end), literal.slice(end + 1), { timeout: timeoutMs });
  if (found.status === 'safe') return null;
  if (found.status === 'unknown') return `recheck cannot decide it (${found.error.kind})`;
  return `${found.complexity.summary}: ${found.attack.pattern.slice(0, 100)}`;
}

function writeVerdicts(verdicts: Verdicts): void {
  const lines = [...verdicts].map(([literal, verdict]) => `${verdict} ${literal}`);
  writeFileSync(
    verdictsFile,
    `${head}${lines.toSorted((a, b) => a.localeCompare(b, 'en')).join('\n')}\n`,
  );
}

const { values } = parseArgs({ options: { write: { type: 'boolean' }, all: { type: 'boolean' } } });
const inventory = await takeInventory(fileURLToPath(new URL('../..', import.meta.url)));
const before = readVerdicts();
const known = values.all ? new Map([...before].filter(([, one]) => one !== 'safe')) : before;
const { undecided, gone, problems } = compare(inventory, known);
const faults = [...problems];
const safe: string[] = [];
for (const literal of undecided) {
  const danger = await dangerOf(literal);
  const place = inventory.filesOf.get(literal)?.join(', ');
  if (danger === null) safe.push(literal);
  else faults.push(`${place}: ${danger}: ${literal}`);
}
if (values.write) {
  const kept = [...known].filter(([literal]) => !gone.includes(literal));
  writeVerdicts(new Map([...kept, ...safe.map((literal) => [literal, 'safe'] as const)]));
} else {
  const advice = '`npm run patterns` corrects verdicts.txt';
  faults.push(...safe.map((literal) => `new, safe: ${literal} (${advice})`));
  faults.push(...gone.map((literal) => `gone from the source: ${literal} (${advice})`));
}
for (const fault of faults) console.error(fault);
if (faults.length > 0) {
  console.error(`${faults.length} patterns: see "Patterns" in docs/making/bounds.md`);
}
process.exit(faults.length > 0 ? 1 : 0);
