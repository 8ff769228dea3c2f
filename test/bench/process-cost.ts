// The cost of processes, read from /proc (Linux only): core time of a whole tree, memory, threads.
import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds in a tick of /proc/<pid>/stat: Linux counts CPU time in hundredths of a second. */
const msPerTick = 10;

interface Stat {
  command: string;
  parent: number;
  /** Core time of the process itself, all threads. */
  ownMs: number;
  /** Core time of its ended and awaited children, and of theirs. */
  endedMs: number;
}

function readStat(path: string): Stat | null {
  let text: string;
  try {
    text = readFileSync(path, 'latin1');
  } catch {
    return null; // It has ended meanwhile.
  }
  const end = text.lastIndexOf(')');
  const fields = text.slice(end + 2).split(' ');
  const ticks = (index: number) => Number(fields[index]) * msPerTick;
  return {
    command: text.slice(text.indexOf('(') + 1, end),
    parent: Number(fields[1]),
    ownMs: ticks(11) + ticks(12),
    endedMs: ticks(13) + ticks(14),
  };
}

function allProcesses(): Map<number, Stat> {
  const found = new Map<number, Stat>();
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? readStat(`/proc/${name}/stat`) : null;
    if (stat) found.set(Number(name), stat);
  }
  return found;
}

/** The processes at and below `root`: pid → command name. */
export function treeOf(root: number): Map<number, string> {
  const tree = new Map<number, string>();
  for (const [pid, { command }] of treeStats(root)) tree.set(pid, command);
  return tree;
}

function treeStats(root: number): Map<number, Stat> {
  const all = allProcesses();
  const tree = new Map<number, Stat>();
  const isIn = (pid: number): boolean => {
    if (pid === root) return true;
    const parent = all.get(pid)?.parent ?? 0;
    return parent > 0 && isIn(parent);
  };
  for (const [pid, stat] of all) if (isIn(pid)) tree.set(pid, stat);
  return tree;
}

/** Core-milliseconds that the tree has used since it began, ended children included. */
export function treeCpuMs(root: number): number {
  let sum = 0;
  for (const { ownMs, endedMs } of treeStats(root).values()) sum += ownMs + endedMs;
  return sum;
}

/** Returns the process that started `pid`; 0 for one that has ended. */
export function parentOf(pid: number): number {
  return readStat(`/proc/${pid}/stat`)?.parent ?? 0;
}

/** Core-milliseconds of one process, all threads. */
export function cpuMs(pid: number): number {
  return readStat(`/proc/${pid}/stat`)?.ownMs ?? 0;
}

/** Core-milliseconds by name of thread: `node` is the event loop, `libuv-worker` signs. */
export function threadCpuMs(pid: number): Map<string, number> {
  const sums = new Map<string, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const stat = readStat(`/proc/${pid}/task/${thread}/stat`);
    if (!stat) continue;
    const name = Number(thread) === pid ? 'event loop' : stat.command;
    sums.set(name, (sums.get(name) ?? 0) + stat.ownMs);
  }
  return sums;
}

function readKb(path: string, label: string): number {
  try {
    return Number(new RegExp(`^${label}:\\s+(\\d+)`, 'm').exec(readFileSync(path, 'latin1'))?.[1]);
  } catch {
    return 0;
  }
}

/** Resident memory in MB: `now`, and the `peak` since the start. */
export function memoryMb(pid: number, which: 'now' | 'peak'): number {
  const label = which === 'now' ? 'VmRSS' : 'VmHWM';
  return Math.round(readKb(`/proc/${pid}/status`, label) / 1024);
}

/** Returns the memory of a tree in MB now; shared pages are counted once. */
export function treeMemoryMb(root: number): number {
  let kb = 0;
  for (const pid of treeOf(root).keys()) kb += readKb(`/proc/${pid}/smaps_rollup`, 'Pss');
  return Math.round(kb / 1024);
}
