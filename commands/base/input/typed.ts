// Maps the command line to the files under commands/. Finds the command, or for an unknown name the
// nearest command. The path of a file is the name of the command.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { findNearest } from '../../../src/core/config/nearest.ts';
import { UsageError } from '../output/failure.ts';

export const commandsFolder = join(import.meta.dirname, '..', '..');

/** Folder of shared code; everything else under commands/ is a command. */
const sharedFolder = 'base';

/**
 * The command that the user means. `id` has oclif's form, `keys:create`. A topic may have an empty
 * id, for the whole program.
 */
export type Typed =
  | { kind: 'command'; id: string; rest: string[]; wantsHelp: boolean }
  | { kind: 'topic'; id: string };

/** Lists the ids of all commands: `daemon`, `keys:create`, … */
export function listCommandIds(): string[] {
  return idsIn(commandsFolder, '').sort();
}

/**
 * Returns the ids of the commands in a folder. Walks it by hand: `readdirSync` with `recursive`
 * reads the type of each file separately.
 */
function idsIn(folder: string, prefix: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const { name } = entry;
    if (name.endsWith('.ts')) return [prefix + name.slice(0, -'.ts'.length)];
    if (!entry.isDirectory() || (prefix === '' && name === sharedFolder)) return [];
    return idsIn(join(folder, name), `${prefix}${name}:`);
  });
}

function isHelpFlag(word: string): boolean {
  return word === '--help' || word === '-h';
}

function wantsHelp(id: string, words: readonly string[]): boolean {
  const end = words.indexOf('--');
  const flags = end < 0 ? words : words.slice(0, end);
  // `sendmail -h 5` sets a hop count. Showing help instead would lose the mail with exit code 0.
  return id === 'sendmail' ? flags.includes('--help') : flags.some(isHelpFlag);
}

/** Splits off flags in front of the command: oclif accepts flags only after the command. */
function splitLeadingFlags(argv: readonly string[]): { leading: string[]; words: string[] } {
  let end = 0;
  while (argv[end]?.startsWith('-') && argv[end] !== '--') {
    end += argv[end] === '--config' || argv[end] === '--org' ? 2 : 1;
  }
  return { leading: argv.slice(0, end), words: argv.slice(end) };
}

/**
 * Finds the command. `help keys create` and `keys create --help` mean the same.
 * @throws UsageError naming the nearest command to an unknown name.
 */
export function interpret(argv: readonly string[], ids: readonly string[]): Typed {
  const split = splitLeadingFlags(argv);
  const { leading } = split;
  const asksHelp = split.words[0] === 'help';
  const words = asksHelp ? split.words.slice(1) : split.words;
  const firstFlag = words.findIndex((word) => word.startsWith('-'));
  const names = firstFlag < 0 ? words : words.slice(0, firstFlag);

  for (let depth = names.length; depth > 0; depth--) {
    const id = names.slice(0, depth).join(':');
    if (!ids.includes(id)) continue;
    const rest = [...leading, ...words.slice(depth)];
    return { kind: 'command', id, rest, wantsHelp: asksHelp || wantsHelp(id, rest) };
  }
  const topic = names.join(':');
  if (topic !== '' && !ids.some((id) => id.startsWith(`${topic}:`))) throw unknown(names, ids);
  const stray = leading.find((flag) => !isHelpFlag(flag));
  if (topic === '' && stray !== undefined) throw new UsageError(`${stray} needs a command`);
  return { kind: 'topic', id: topic };
}

const spaced = (id: string) => id.replaceAll(':', ' ');

function unknown(names: readonly string[], ids: readonly string[]): UsageError {
  const deepest = Math.max(...ids.map((id) => id.split(':').length));
  const topics = ids.filter((id) => id.includes(':')).map((id) => id.slice(0, id.indexOf(':')));
  const known = [...new Set([...ids, ...topics])];
  for (let depth = Math.min(deepest, names.length); depth > 0; depth--) {
    const candidates = known.filter((id) => id.split(':').length === depth).map(spaced);
    const nearest = findNearest(names.slice(0, depth).join(' '), candidates);
    if (nearest === undefined || nearest === names[0]) continue;
    const what = names.slice(0, depth).join(' ');
    return new UsageError(`there is no command "${what}". Did you mean "svc ${nearest}"?`);
  }
  const [topic = ''] = names;
  const verbs = ids.filter((id) => id.startsWith(`${topic}:`)).map(spaced);
  const others = verbs.length > 0 ? `There are: ${verbs.join(', ')}.` : '"svc help" lists all.';
  return new UsageError(`there is no command "${names.slice(0, deepest).join(' ')}". ${others}`);
}
