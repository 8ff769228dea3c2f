// `npm run bench -- --vs postfix`: this program and the local Postfix in turns, on one sink and
// with one message, and the ratios beside the targets (targets.ts).
import { type Contender, combine, type Figures, figuresRow, runRound } from './contender.ts';
import { startOpenDkim, whyNoOpenDkim } from './opendkim.ts';
import { postfixVersion, startPostfix, whyNoPostfix } from './postfix.ts';
import { type BenchSink, startBenchSink } from './processes.ts';
import { say } from './progress.ts';
import { type BenchMail, startBenchService } from './svc-contender.ts';
import { judge } from './targets.ts';

interface Race extends BenchMail {
  messages: number;
  rounds: number;
}

export interface VersusOptions extends Omit<Race, 'connections'> {
  /** One race with each number of connections. */
  connections: readonly number[];
}

const warmUpMessages = 10_000;
const signedDomain = 'postfix.bench.example';

export async function raceAgainstPostfix(options: VersusOptions): Promise<void> {
  const missing = whyNoPostfix();
  if (missing) {
    say(`Skipped, no Postfix to race against: ${missing}.`);
    return;
  }
  const races: Map<string, Figures>[] = [];
  for (const connections of options.connections) {
    const results = await raceOver({ ...options, connections });
    races.push(results);
    show(`Over ${connections} connections:`, results);
  }
  if (races.length > 1)
    show('Each contender with the connections that it does best with:', bestOf(races));
}

function show(title: string, results: ReadonlyMap<string, Figures>): void {
  say('');
  say(title);
  console.table([...results].map(([name, figures]) => figuresRow(name, figures)));
  console.table(judge(results));
}

/** Returns the race of each contender with most messages a second from end to end. */
function bestOf(races: readonly ReadonlyMap<string, Figures>[]): Map<string, Figures> {
  const best = new Map<string, Figures>();
  for (const [name, figures] of races.flatMap((race) => [...race])) {
    const known = best.get(name);
    if (!known || known.endToEndPerSecond < figures.endToEndPerSecond) best.set(name, figures);
  }
  return best;
}

async function raceOver(race: Race): Promise<Map<string, Figures>> {
  const stops: (() => unknown)[] = [];
  try {
    const sink = await startBenchSink();
    stops.push(() => sink.close());
    const contenders = await startContenders(sink, race, stops);
    return await raceInTurns(contenders, sink, race);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function startContenders(
  sink: BenchSink,
  options: Race,
  stops: (() => unknown)[],
): Promise<Contender[]> {
  const { connections } = options;
  const contenders: Contender[] = [];
  const postfix = await startPostfix(sink.port, connections);
  stops.push(() => postfix.stop());
  contenders.push(await postfix.contender('postfix', options));
  const noMilter = whyNoOpenDkim();
  if (noMilter) {
    say(`Skipped, Postfix with OpenDKIM: ${noMilter}.`);
  } else {
    const milter = await startOpenDkim(signedDomain);
    stops.push(() => milter.stop());
    const signing = await startPostfix(sink.port, connections, milter.socket);
    stops.push(() => signing.stop());
    const both = await signing.contender('postfix+opendkim', options);
    contenders.push({
      ...both,
      cpuMs: () => both.cpuMs() + milter.cpuMs(),
      memoryMb: () => both.memoryMb() + milter.memoryMb(),
    });
  }
  const service = await startBenchService(sink.port);
  stops.push(() => service.stop());
  contenders.push(await service.contender('rsa', options));
  contenders.push(await service.contender('ed25519', options));
  say(
    `Postfix ${postfixVersion()}, ${connections} connections, ${options.rounds} rounds in turns, medians.`,
  );
  return contenders;
}

/** Runs every contender once in each round, so that other load on the machine hits all alike. */
async function raceInTurns(
  contenders: readonly Contender[],
  sink: BenchSink,
  { messages, rounds }: Race,
): Promise<Map<string, Figures>> {
  const all = new Map<string, Figures[]>(contenders.map(({ name }) => [name, []]));
  for (const contender of contenders) {
    for (let round = 0; round < contender.warmUpRounds; round++) {
      await runRound(contender, sink, Math.min(warmUpMessages, messages));
    }
  }
  for (let round = 1; round <= rounds; round++) {
    for (const contender of contenders) {
      const figures = await runRound(contender, sink, messages);
      all.get(contender.name)?.push(figures);
      say(`round ${round}  ${oneLine(contender.name, figures)}`);
    }
  }
  return new Map([...all].map(([name, figures]) => [name, combine(figures)]));
}

function oneLine(name: string, figures: Figures): string {
  const { acceptPerSecond, endToEndPerSecond, coreMsPerMessage } = figures;
  return (
    `${name.padEnd(18)} accepted ${acceptPerSecond.toFixed(0).padStart(6)}/s, end to end ` +
    `${endToEndPerSecond.toFixed(0).padStart(6)}/s, ${coreMsPerMessage.toFixed(3)} core-ms`
  );
}
