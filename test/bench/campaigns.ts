// `npm run bench -- --campaigns`: how fast the real daemon sends a campaign run, in turns with
// POSTs of the same mail, and the bytes of the store for each recipient. Figures are printed, never
// asserted.
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Contender, combine, type Figures, figuresRow, runRound } from './contender.ts';
import type { LoadResult } from './http-load.ts';
import { startBenchSink, svcJson } from './processes.ts';
import { say, showProgress } from './progress.ts';
import { type BenchMail, type BenchService, startBenchService } from './svc-contender.ts';

export interface CampaignsOptions extends BenchMail {
  messages: number;
  rounds: number;
}

const from = { email: 'bench@ed25519.bench.example' };
const customNames = Array.from({ length: 10 }, (_, index) => `value${index}`);
const pollMs = 50;

interface Run {
  id: string;
  status: string;
  dispatchedCount: number;
  failureReason: string | null;
  startedAt: string;
  completedAt: string;
}

async function importContacts({ env, dataDir }: BenchService, count: number): Promise<void> {
  const header = ['email', 'firstName', 'lastName', 'tags', ...customNames].join(',');
  const rows = Array.from({ length: count }, (_, index) =>
    [
      `user${index}@example.com`,
      `First${index}`,
      `Last${index}`,
      'bench',
      ...customNames.map((name) => `${name} of ${index}`),
    ].join(','),
  );
  const file = join(dataDir, 'people.csv');
  writeFileSync(file, `${[header, ...rows].join('\n')}\n`);
  const stop = showProgress(`importing ${count} contacts`);
  await svcJson(env, 'contacts', 'import', file).finally(stop);
}

/** Bytes of the files of the store. */
function storeBytes({ dataDir }: BenchService): number {
  const size = (name: string) =>
    statSync(join(dataDir, name), { throwIfNoEntry: false })?.size ?? 0;
  return size('svc.db') + size('svc.db-wal');
}

async function ask<T>({ daemon, apiKey }: BenchService, path: string, body?: object): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${daemon.httpPort}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`);
  return answer as T;
}

/** Runs a campaign to all contacts; resolves when every contact was judged. */
async function runOnce(service: BenchService, email: object, total: number): Promise<LoadResult> {
  const { id } = await ask<{ id: string }>(service, '/v1/campaigns', {
    name: 'bench',
    channel: 'email',
    from,
    email,
    audience: { includeTags: ['bench'] },
    transactional: true,
  });
  let run = await ask<Run>(service, `/v1/campaigns/${id}/runs`, {});
  while (run.status !== 'completed') {
    if (['failed', 'held', 'paused'].includes(run.status)) throw new Error(JSON.stringify(run));
    await wait(pollMs);
    run = await ask<Run>(service, `/v1/campaigns/${id}/runs/${run.id}`);
  }
  if (run.dispatchedCount !== total) throw new Error(`${run.dispatchedCount} of ${total} sent`);
  const ms = Date.parse(run.completedAt) - Date.parse(run.startedAt);
  return { seconds: ms / 1000, latenciesMs: [ms], accepted: total, refused: new Map() };
}

export async function benchCampaigns(options: CampaignsOptions): Promise<void> {
  const { messages, rounds, text } = options;
  const sink = await startBenchSink();
  const service = await startBenchService(sink.port);
  try {
    const plain = await service.contender('ed25519', options);
    await importContacts(service, messages);
    const contender = (name: string, email: object): Contender => ({
      ...plain,
      name,
      submit: (total) => runOnce(service, email, total),
    });
    const names = ['firstName', 'lastName', ...customNames.map((name) => `customFields.${name}`)];
    const values = names.map((name) => `{{ contact.${name} }}`).join('\n');
    const ways = [
      plain,
      contender('run, inline', { subject: 'News', text }),
      contender('run, 12 values', { subject: 'News', text: `${values}\n${text}` }),
    ];
    const figures = new Map<string, Figures[]>(ways.map(({ name }) => [name, []]));
    const bytes = new Map<string, number>();
    for (let round = -1; round < rounds; round++) {
      for (const way of ways) {
        say(`${round < 0 ? 'warming up' : `round ${round + 1}`}: ${way.name} …`);
        await service.restart(async () => {});
        const before = storeBytes(service);
        const one = await runRound(way, sink, messages);
        if (round < 0) continue;
        figures.get(way.name)?.push(one);
        await service.restart(async () => {
          bytes.set(way.name, (storeBytes(service) - before) / messages);
        });
      }
    }
    const all = ways.map(({ name }) => ({ name, ...combine(figures.get(name) ?? []) }));
    console.table(
      all.map((one) => ({
        ...figuresRow(one.name, one),
        'store bytes': Math.round(bytes.get(one.name) ?? 0),
      })),
    );
    const [post, ...runs] = all;
    for (const run of runs) {
      const ratio = (field: 'acceptPerSecond' | 'endToEndPerSecond') =>
        (run[field] / (post?.[field] ?? Number.NaN)).toFixed(2);
      say(
        `${run.name} beside POST: dispatch ${ratio('acceptPerSecond')}, end to end ${ratio('endToEndPerSecond')}.`,
      );
    }
  } finally {
    await service.stop();
    sink.close();
  }
}
