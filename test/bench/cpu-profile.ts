// Reads the CPU profile that a daemon wrote at its end (`node --cpu-prof`): where its event loop
// spent a span of time, by function and by file. Other threads (signing) are not in it.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { say } from './progress.ts';

const root = join(import.meta.dirname, '..', '..');

interface ProfileNode {
  id: number;
  callFrame: { functionName: string; url: string; lineNumber: number };
  children?: number[];
}

interface CpuProfile {
  nodes: ProfileNode[];
  /** µs of the monotonic clock. */
  startTime: number;
  samples: number[];
  /** µs since the sample before. */
  timeDeltas: number[];
}

/** A span of the monotonic clock in µs, in which `messages` were handled. */
export interface Span {
  name: string;
  from: number;
  to: number;
  messages: number;
}

export interface Profiling {
  /** Environment for the profiled daemon. */
  env: Record<string, string>;
  /** Prints the tables of these spans; call after the daemon has ended. */
  report(spans: readonly Span[]): void;
}

/** Now, on the clock that profiles use. */
export function profileClock(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

export function prepareProfiling(): Profiling {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-profile-'));
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  return {
    env: { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${dir}` },
    report(spans) {
      const profile = readMainProfile(dir);
      for (const span of spans) reportSpan(profile, span);
    },
  };
}

/** Workers write profiles too: CPU.<date>.<time>.<pid>.<thread>.<number>.cpuprofile. */
function readMainProfile(dir: string): CpuProfile {
  const sizeOf = (name: string) => readFileSync(join(dir, name)).length;
  const [largest] = readdirSync(dir)
    .filter((name) => name.split('.')[4] === '0')
    .sort((a, b) => sizeOf(b) - sizeOf(a));
  if (!largest) throw new Error(`the daemon left no CPU profile in ${dir}`);
  return JSON.parse(readFileSync(join(dir, largest), 'utf8')) as CpuProfile;
}

const shown = 25;

function reportSpan(profile: CpuProfile, span: Span): void {
  const byFunction = new Map<string, number>();
  const byFile = new Map<string, number>();
  const byPayer = new Map<string, number>();
  const payers = payersOf(profile);
  const add = (sums: Map<string, number>, name: string, us: number) =>
    sums.set(name, (sums.get(name) ?? 0) + us);
  let idle = 0;
  for (const [node, us] of selfTimes(profile, span)) {
    if (node.callFrame.functionName === '(idle)') {
      idle += us;
      continue;
    }
    add(byFunction, nameOf(node), us);
    add(byFile, fileOf(node), us);
    add(byPayer, payers.get(node.id) ?? fileOf(node), us);
  }
  const seconds = (span.to - span.from) / 1e6;
  say(`\nProfile of ${span.name}: ${seconds.toFixed(1)} s, idle ${(idle / 1e6).toFixed(1)} s`);
  console.table(topOf('function, self', byFunction, span.messages));
  console.table(topOf('file, self', byFile, span.messages));
  console.table(topOf('nearest function of ours, store aside', byPayer, span.messages));
}

function selfTimes(profile: CpuProfile, { from, to }: Span): Map<ProfileNode, number> {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const times = new Map<ProfileNode, number>();
  let at = profile.startTime;
  for (const [index, id] of profile.samples.entries()) {
    at += profile.timeDeltas[index] ?? 0;
    const node = nodes.get(id);
    if (!node || at < from || at > to) continue;
    // A sample stands for the time until the next one.
    times.set(node, (times.get(node) ?? 0) + (profile.timeDeltas[index + 1] ?? 0));
  }
  return times;
}

/** Maps node id → our function that caused the work of libraries, the engine and the store. */
function payersOf(profile: CpuProfile): Map<number, string> {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const payers = new Map<number, string>();
  const visit = (node: ProfileNode, above: string | null) => {
    const isOurs = /^(src|daemon)\/(?!platform\/store\/)/.test(fileOf(node));
    const payer = isOurs ? nameOf(node) : above;
    if (payer) payers.set(node.id, payer);
    for (const id of node.children ?? []) {
      const child = nodes.get(id);
      if (child) visit(child, payer);
    }
  };
  const [first] = profile.nodes;
  if (first) visit(first, null);
  return payers;
}

function nameOf(node: ProfileNode): string {
  const { functionName, lineNumber } = node.callFrame;
  return `${functionName || '(anonymous)'}  ${fileOf(node)}:${lineNumber + 1}`;
}

/** Our files and libraries by path, packages by name, the engine's own work as it is. */
function fileOf({ callFrame: { url, functionName } }: ProfileNode): string {
  if (url === '') return functionName.startsWith('(') ? functionName : '(native)';
  if (!url.startsWith('file:')) return url;
  const path = relative(root, fileURLToPath(url));
  const found = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path);
  return found?.[1] ?? path;
}

function topOf(what: string, sums: ReadonlyMap<string, number>, messages: number) {
  const total = [...sums.values()].reduce((sum, us) => sum + us, 0);
  return [...sums]
    .sort(([, a], [, b]) => b - a)
    .slice(0, shown)
    .map(([name, us]) => ({
      [what]: name,
      '%': Number(((100 * us) / total).toFixed(1)),
      'µs/message': Number((us / messages).toFixed(1)),
    }));
}
