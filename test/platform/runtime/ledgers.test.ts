// Each shared resource has a single ledger of fairness. The classes that count fair shares are in
// src/platform/runtime/fairness; this table has every file that makes a ledger, and the resource.
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repository } from '../../support/cli.ts';

const resources: Readonly<Record<string, string>> = {
  'src/platform/runtime/fairness/fair-queue.ts': 'jobs and bytes of a queue',
  'src/platform/runtime/fairness/shared-pool.ts': 'a pool with eviction',
  'src/platform/runtime/fairness/loop-turns.ts': 'steps of the event loop',
  'src/platform/runtime/workers/pool.ts': 'jobs of the workers',
  'src/platform/store/aside.ts': 'reads beside the main thread',
  'src/mail/smtp/pool.ts': 'SMTP connections',
  'src/outbound/queue/lanes/shares.ts': 'deliveries in flight',
  'src/webhooks/posting/places.ts': 'claims, posts and connections of webhooks',
  'src/webhooks/deliveries/redeliver.ts': 'redeliveries by hand',
  'src/webhooks/deliveries/replay.ts': 'replays',
  'src/campaigns/walk/run-turns.ts': 'turns of runs',
  'daemon/smtp/connection-counts.ts': 'SMTP sessions of sites',
  'daemon/smtp/mail-collector.ts': 'memory of incoming mail',
  'daemon/http/answer-memory.ts': 'memory of answers',
  'daemon/http/body.ts': 'memory of request bodies',
  'daemon/http/streams.ts': 'streams of downloads',
  'daemon/http/paths/event-stream.ts': 'streams of events',
  'daemon/http/paths/waits.ts': 'requests that wait for events',
  'daemon/http/workload.ts': 'requests in flight',
  'daemon/console/live.ts': 'streams of the console',
};

const sources = globSync('{src,daemon,commands}/**/*.ts', { cwd: repository }).map((file) => ({
  file,
  text: readFileSync(join(repository, file), 'utf8'),
}));
const makers = sources
  .filter(({ text }) => /\bnew (FairShare|SharedPool|FairQueue)\b/.test(text))
  .map(({ file }) => file);

describe('the ledgers of fairness', () => {
  it('are made in the files of this table', () => {
    expect(new Set(makers)).toEqual(new Set(Object.keys(resources)));
  });

  it('have different resources', () => {
    const names = Object.values(resources);
    expect(new Set(names).size).toBe(names.length);
  });

  it('give places back in the file that takes them', () => {
    const users = sources.filter(({ text }) => /\.letGo\(/.test(text)).map(({ file }) => file);
    const unknown = users.filter(
      (file) => !file.startsWith('src/platform/runtime/fairness/') && !(file in resources),
    );
    expect(unknown).toEqual([]);
  });

  it('have names of their rule, and not turns.ts or pace.ts', () => {
    const vague = sources.filter(({ file }) => ['turns.ts', 'pace.ts'].includes(basename(file)));
    expect(vague.map(({ file }) => file)).toEqual([]);
  });

  it('have classes of different names', () => {
    const names = sources.flatMap(({ text }) =>
      [
        ...text.matchAll(
          /^export class (\w*(?:Pace|Turns?|Places?|Shares?|Pool|Robin|Limits))\b/gm,
        ),
      ].map(([, name = '']) => name),
    );
    expect(names.length).toBeGreaterThan(8);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });
});
