// Lets one process of root run many commands that change to the account of their store. The process
// starts with the real ids of this account (setpriv), because access(2) asks the real ids and Node
// can set only the effective ids. A command changes the effective ids, and `end` restores root's.
// Until a command changes them, `existsSync` must answer as for root, so here it calls stat(2).
import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import fs, { type PathLike } from 'node:fs';
import { enableCompileCache, registerHooks, syncBuiltinESMExports } from 'node:module';

export interface RootReturn {
  /** Forgets files and processes of root that an earlier command opened. */
  begin(): Promise<void>;
  /** Returns to root, and disconnects child processes of the command, so that they end. */
  end(): void;
}

type Functions = Record<string, (...args: unknown[]) => unknown>;

/** Modules that keep files of root: each command gets new instances, as in a separate process. */
const urls = ['src/platform/runtime/held-files.ts', 'commands/base/account/file-broker.ts'].map(
  (path) => new URL(`../../${path}`, import.meta.url).href,
);
const current = new Map<string, Functions>();
let commands = 0;

async function renewModules(): Promise<void> {
  commands += 1;
  for (const url of urls) current.set(url, await import(`${url}?command=${commands}`));
}

/** Returns a module with functions that call the instance of the current command. */
function sourceOf(url: string): string {
  const names = Object.keys(current.get(url) ?? {});
  const call = (name: string) => `(...args) => of(${JSON.stringify(url)}).${name}(...args)`;
  return [
    'const of = (url) => globalThis.modulesOfCommand.get(url);',
    ...names.map((name) => `export const ${name} = ${call(name)};`),
  ].join('\n');
}

/** Returns the answer of `existsSync` for the effective ids. */
function isSeen(path: PathLike): boolean {
  try {
    return fs.statSync(path) !== undefined;
  } catch {
    return false;
  }
}

/** Prepares the process; before the import of commands. */
export async function returnToRoot(): Promise<RootReturn> {
  // Node ignores NODE_COMPILE_CACHE if real and effective ids differ.
  enableCompileCache(process.env.NODE_COMPILE_CACHE);
  const { setegid, seteuid, getegid, geteuid } = process;
  Object.assign(process, { setgid: setegid, setuid: seteuid, getgid: getegid, getuid: geteuid });
  Object.assign(globalThis, { modulesOfCommand: current });
  fs.existsSync = isSeen;
  syncBuiltinESMExports();
  const children = new Set<ChildProcess>();
  subscribe('child_process', (message) => {
    children.add((message as { process: ChildProcess }).process);
  });
  await renewModules();
  registerHooks({
    load(url, context, nextLoad) {
      if (!current.has(url)) return nextLoad(url, context);
      return { format: 'module', source: sourceOf(url), shortCircuit: true };
    },
  });
  return {
    begin: renewModules,
    end() {
      process.seteuid?.(0);
      process.setegid?.(0);
      process.setgroups?.([0]);
      for (const child of children) if (child.connected) child.disconnect();
      children.clear();
    },
  };
}
