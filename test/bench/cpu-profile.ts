// Reads the CPU profile that a daemon wrote at its end (`node --cpu-prof`): where its event loop spent
// a span of time, by function and by file. Other threads (signing) are not in it.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(import.meta.dirname, '..', '..');

interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
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
  /** For the daemon that is to be profiled. */
  env: Record<string, string>;
  /** After the daemon has ended: the tables of these spans. */
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

const shownFunctions = 25;
const shownFiles = 25;

function reportSpan(profile: CpuProfile, span: Span): void {
  const byFunction = new Map<string, number>();
  const byFile = new Map<string, number>();
  let idle = 0;
  for (const [node, us] of selfTimes(profile, span)) {
    const { functionName, url, lineNumber } = node.callFrame;
    if (functionName === '(idle)') {
      idle += us;
      continue;
    }
    const file = fileOf(url, functionName);
    const name = `${functionName || '(anonymous)'}  ${file}:${lineNumber + 1}`;
    byFunction.set(name, (byFunction.get(name) ?? 0) + us);
    byFile.set(file, (byFile.get(file) ?? 0) + us);
  }
  const seconds = (span.to - span.from) / 1e6;
  console.log(`\nProfile of ${span.name}: ${seconds.toFixed(1)} s, of which idle ${(idle / 1e6).toFixed(1)} s`);
  console.table(topOf(byFunction, shownFunctions, span.messages));
  console.table(topOf(byFile, shownFiles, span.messages));
}

function selfTimes(profile: CpuProfile, { from, to }: Span) {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const times = new Map<CpuProfile['nodes'][number], number>();
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

/** Our files and libraries by path, packages by name, the engine's own work as it is. */
function fileOf(url: string, functionName: string): string {
  if (url === '') return functionName.startsWith('(') ? functionName : '(native)';
  if (!url.startsWith('file:')) return url;
  const path = relative(root, fileURLToPath(url));
  const found = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path);
  return found?.[1] ?? path;
}

function topOf(sums: ReadonlyMap<string, number>, count: number, messages: number) {
  const total = [...sums.values()].reduce((sum, us) => sum + us, 0);
  return [...sums]
    .sort(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(([name, us]) => ({
      self: name,
      '%': Number(((100 * us) / total).toFixed(1)),
      'µs/message': Number((us / messages).toFixed(1)),
    }));
}
