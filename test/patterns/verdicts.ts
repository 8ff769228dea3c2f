// The verdicts of all patterns, by literal: verdicts.txt. The comparison with the source is here,
// the questions to recheck are in check.ts.
import { readFileSync } from 'node:fs';
import { boundedInputs } from './bounded-inputs.ts';
import { constructed } from './constructed.ts';
import { readLoadedPatterns, readSourcePatterns, type SourcePattern } from './source-patterns.ts';

export const verdictsFile = new URL('./verdicts.txt', import.meta.url);

/** A literal with its verdict: `safe`, or the name of a bounded input. */
export type Verdicts = ReadonlyMap<string, string>;

/** Reads lines such as `safe /a+/` and `reply /a.{0,60}b/i`. */
export function parseVerdicts(text: string): Verdicts {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const start = line.indexOf(' /');
      return [line.slice(start + 1), line.slice(0, start)];
    }),
  );
}

export function readVerdicts(): Verdicts {
  return parseVerdicts(readFileSync(verdictsFile, 'utf8'));
}

/** The patterns that stand in the source, and those without a reason. */
export interface Inventory {
  /** Files by literal. */
  filesOf: ReadonlyMap<string, readonly string[]>;
  problems: readonly string[];
}

/** Returns the problems of the list of `new RegExp`. */
export function problemsOfConstructed(
  inFunctions: readonly SourcePattern[],
  listed: readonly SourcePattern[] = constructed,
): string[] {
  const isSame = (one: SourcePattern) => (other: SourcePattern) =>
    one.file === other.file && one.text === other.text;
  const unknown = inFunctions.filter((one) => !listed.some(isSame(one)));
  const gone = listed.filter((one) => !inFunctions.some(isSame(one)));
  return [
    ...unknown.map(
      ({ file, text }) =>
        `${file}: new RegExp(${text}): text from outside is no pattern; if it is ours, write the reason into constructed.ts`,
    ),
    ...gone.map(({ file, text }) => `constructed.ts: ${file} has no new RegExp(${text}) any more`),
  ];
}

/** Reads the source, and loads the modules that make patterns. */
export async function takeInventory(root: string): Promise<Inventory> {
  const { literals, onLoad, inFunctions } = readSourcePatterns(root);
  const examples = constructed.flatMap(({ file, examples = [] }) =>
    examples.map((one) => ({ file, text: String(one) })),
  );
  const withExamples = new Set(examples.map(({ file }) => file));
  const onceLoaded = inFunctions.filter(({ file }) => !withExamples.has(file));
  const files = new Set([...onLoad, ...onceLoaded].map(({ file }) => file));
  const loaded = await readLoadedPatterns(root, [...files]);
  const filesOf = new Map<string, string[]>();
  for (const { file, text } of [...literals, ...loaded, ...examples]) {
    const all = filesOf.get(text) ?? [];
    filesOf.set(text, all.includes(file) ? all : [...all, file]);
  }
  return { filesOf, problems: problemsOfConstructed(inFunctions) };
}

/** The differences between source and verdicts. */
export interface Differences {
  undecided: readonly string[];
  gone: readonly string[];
  problems: readonly string[];
}

/** Compares the source with the verdicts. */
export function compare({ filesOf, problems }: Inventory, verdicts: Verdicts): Differences {
  const misplaced = [...verdicts].flatMap(([literal, verdict]) => {
    if (verdict === 'safe') return [];
    const input = boundedInputs[verdict];
    if (!input) return [`verdicts.txt: ${verdict} is neither safe nor a bounded input`];
    const others = (filesOf.get(literal) ?? []).filter((file) => !input.files.includes(file));
    return others.map((file) => `${file}: does not meet the input "${verdict}": ${literal}`);
  });
  return {
    undecided: [...filesOf.keys()].filter((literal) => !verdicts.has(literal)),
    gone: [...verdicts.keys()].filter((literal) => !filesOf.has(literal)),
    problems: [...problems, ...misplaced],
  };
}
