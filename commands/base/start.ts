// Runs a command line: finds the file of the command and loads only that file, because loading all
// commands would take longer than everything else. Ends with the exit codes of docs/commands.md.
// Code shared by commands is next to this file.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Interfaces } from '@oclif/core';
import { setHomeAndShell } from './account/account.ts';
import { commandsFolder, interpret, listCommandIds, type Typed } from './input/typed.ts';
import { describeError, exitCodeOf } from './output/failure.ts';
import { exitOnInterrupt } from './signals.ts';

const root = join(commandsFolder, '..');

function readPackage(): Interfaces.PJSON {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}

function versionLine({ name, version }: Interfaces.PJSON): string {
  return `${name}/${version} ${process.platform}-${process.arch} node-${process.version}`;
}

/** Returns the files that oclif needs to load. By default oclif would load all files. */
function filesFor(typed: Typed): string[] {
  if (typed.kind === 'topic') return [typed.id === '' ? '*.ts' : `${typed.id}/**/*.ts`, '!base/**'];
  return [`${typed.id.replaceAll(':', '/')}.ts`];
}

type Topics = NonNullable<Interfaces.PJSON['oclif']['topics']>;

/**
 * Gives each topic a child: oclif lists only topics with children, and the list of topics is made
 * without loading the commands.
 */
function listed(topics: Topics): Topics {
  const withChild = Object.entries(topics).map(([name, topic]) => [
    name,
    { ...topic, subtopics: { verbs: {}, ...topic.subtopics } },
  ]);
  return Object.fromEntries(withChild);
}

async function loadOclif(pjson: Interfaces.PJSON, typed: Typed) {
  // bin/run.js has checked the version of Node; oclif would load semver to check it again.
  process.env.OCLIF_DISABLE_ENGINE_WARNING = '1';
  const { Config, loadHelpClass, settings } = await import('@oclif/core');
  // Node runs the sources. With NODE_ENV=test or development, oclif would search tsx and ts-node.
  settings.enableAutoTranspile = false;
  const commands = { strategy: 'pattern', target: './commands', globPatterns: filesFor(typed) };
  const { topics = {} } = pjson.oclif;
  const shown = typed.id === '' ? listed(topics) : topics;
  const config = await Config.load({
    root,
    // oclif would load plugins of a package.json in its data directory: $SVC_DATA_DIR, which is
    // ours.
    userPlugins: false,
    pjson: { ...pjson, oclif: { ...pjson.oclif, topics: shown, commands } } as Interfaces.PJSON,
  });
  return { config, loadHelpClass };
}

async function run(argv: string[]): Promise<void> {
  const pjson = readPackage();
  if (argv[0] === '--version') {
    const { program } = await import('../../src/platform/runtime/program.ts');
    const commit = program.commit === null ? '' : `commit ${program.commit}\n`;
    process.stdout.write(`${versionLine(pjson)}\n${commit}`);
    return;
  }
  const typed = interpret(argv, listCommandIds());
  const { config, loadHelpClass } = await loadOclif(pjson, typed);
  if (typed.kind === 'command' && !typed.wantsHelp) {
    await config.runCommand(typed.id, typed.rest);
    return;
  }
  const Help = await loadHelpClass(config);
  await new Help(config, pjson.oclif.helpOptions).showHelp(typed.id === '' ? [] : [typed.id]);
}

/** Ignores a closed pipe of standard error. @throws a different error unchanged */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

/**
 * Ends the process if standard output cannot be written, as with a full disk. Ignores a closed pipe
 * (`svc openapi | head -1`).
 */
function endOnLostOutput(error: NodeJS.ErrnoException, argv: readonly string[]): void {
  if (error.code === 'EPIPE') return;
  const lost = new Error(`Standard output cannot be written: ${error.message}`, { cause: error });
  process.stderr.write(`${describeError(Object.assign(lost, { code: error.code }), argv)}\n`);
  process.exit(exitCodeOf(error));
}

/** Adds a priority to the lines if standard error may be the journal of systemd. */
async function forStandardError(text: string): Promise<string> {
  if (!process.env.JOURNAL_STREAM) return text;
  const { fatalText } = await import('../../src/platform/runtime/log.ts');
  return fatalText(text);
}

/** Runs the command; the exit code is in `process.exitCode` at the end. Never throws. */
export async function start(argv: string[]): Promise<void> {
  exitOnInterrupt();
  setHomeAndShell();
  process.stdout.on('error', (error) => endOnLostOutput(error, argv));
  process.stderr.on('error', ignoreClosedPipe);
  try {
    await run(argv);
  } catch (error) {
    process.stderr.write(`${await forStandardError(describeError(error, argv))}\n`);
    process.exitCode = exitCodeOf(error);
  }
}
