// `svc rehearse` beside the run that it foretells: a daemon in capture mode with a virtual clock
// then does the same, row for row. Each seed is a world of its own: contacts with quiet hours,
// simulated receivers, a plan, mail that waits. Slow: each seed is a rehearsal and a real run over
// four days.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { operatorOf } from '../../src/access/keys/roles.ts';
import { updateOrganization } from '../../src/access/organizations/organizations.ts';
import { createCampaign } from '../../src/campaigns/setup/campaigns.ts';
import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import { loadConfig } from '../../src/core/config/config.ts';
import { createContact } from '../../src/people/contacts/contacts.ts';
import { createGroup } from '../../src/people/unsubscribe-groups/groups.ts';
import { isoTime } from '../../src/platform/runtime/clock.ts';
import { createLogger } from '../../src/platform/runtime/log.ts';
import { type Random, seededRandom } from '../../src/platform/runtime/random.ts';
import { StandingClock } from '../../src/platform/runtime/standing-clock.ts';
import { migratedTables } from '../../src/platform/store/migrate.ts';
import { readLedger } from '../../src/service/rehearsal/report.ts';
import type { LedgerEntry, Rehearsal } from '../../src/service/rehearsal/schema.ts';
import { openService } from '../../src/service/service.ts';
import { svc } from '../support/cli.ts';
import { inLong, stores } from '../support/command.ts';
import { type DaemonHome, type DaemonProcess, daemonHome } from '../support/daemon-process.ts';
import { type PostgresSchema, postgresSchema } from '../support/postgres.ts';

const at = '2026-03-02T09:00:00.000Z';
const flags = ['--clock', 'virtual'];
const days = 4;
/** Worlds in one run; `SEEDS=10` is the whole proof, by hand. */
const seeds = Number(process.env.SEEDS ?? inLong(3, 1));
const plans = ['free', 'starter', 'self-hosted'];

/** Opens the store of a home as a command does, at the time of its clock. */
async function opened<T>(
  home: DaemonHome,
  now: string,
  work: (app: App, caller: Caller) => Promise<T>,
): Promise<T> {
  const { config } = loadConfig({ env: home.cli.env, cwd: home.cli.directory });
  const log = await createLogger({ level: 'silent', pretty: false });
  const clock = new StandingClock(Date.parse(now));
  const app = await openService(config, log, { clock, mustExist: true });
  try {
    const { items } = await home.cli.json<{ items: { id: string }[] }>(['orgs', 'list']);
    return await work(app, operatorOf(items[0]?.id ?? ''));
  } finally {
    await app.close();
  }
}

const pick = <T>(random: Random, of: readonly T[]): T =>
  of[Math.floor(random.float() * of.length)] as T;

/** Makes a world; returns the id of its campaign. */
async function makeWorld(app: App, caller: Caller, seed: number): Promise<string> {
  const random = seededRandom(seed);
  await updateOrganization(app, caller.organizationId, { plan: pick(random, plans) });
  const group = await createGroup(app, caller, { name: `News ${seed}` });
  const tag = `seed-${seed}`;
  const count = 40 + Math.floor(random.float() * 160);
  for (let index = 0; index < count; index++) {
    const domain = pick(random, ['example.com', 'example.org', 'example.net']);
    const email =
      random.float() < 0.1
        ? `${pick(random, ['bounced', 'delivered', 'deferred'])}+${seed}x${index}@simulator.test`
        : `u${seed}x${index}@${domain}`;
    const isQuiet = random.float() < 0.2;
    const quiet_hours = {
      start: pick(random, ['06:00', '22:00']),
      end: pick(random, ['11:30', '07:00']),
    };
    await createContact(app, caller, {
      ...{ email, tags: [tag], name: `U${index}` },
      ...(isQuiet && {
        preferences: { notifications: { quiet_hours }, timezone: 'Europe/Berlin' },
      }),
    });
  }
  const { id } = await createCampaign(app, caller, {
    name: `Campaign ${seed}`,
    channel: 'email',
    email: {
      subject: `Seed ${seed}, {{ contact.name }}`,
      text: 'Hello',
      unsubscribeGroupId: group.id,
    },
    audience: { includeTags: [tag], excludeTags: [], contactIds: [], groupIds: [] },
  });
  return id;
}

/** Mail of a simulator that defers is retried with jitter, at a time that nobody can foretell. */
const isJittery = ({ recipient }: LedgerEntry) => recipient.startsWith('deferred+');

function rowsOf(ledger: readonly LedgerEntry[]): string[] {
  const rows = ledger.map((entry) => {
    const { at: time, recipient, subject, outcome, reason } = entry;
    return JSON.stringify([recipient, subject, outcome, reason, isJittery(entry) ? null : time]);
  });
  return rows.toSorted((a, b) => (a < b ? -1 : 1));
}

describe.each(stores)('a rehearsal on %s', (store) => {
  let schema: PostgresSchema | null = null;
  let home: DaemonHome;
  let daemon: DaemonProcess;

  beforeAll(async () => {
    schema = store === 'postgres' ? await postgresSchema(inject('postgresUrl')) : null;
    home = daemonHome(schema ? { SVC_DATABASE_URL: schema.url } : {}, { isEmpty: true });
    daemon = await home.start({ flags: [...flags, '--at', at] });
  });
  afterAll(async () => {
    await home.close();
    await schema?.drop();
  });

  const move = async (body: object) => {
    const answer = await daemon.request<{ now: string }>('POST', '/dev/clock', { body });
    expect(answer.status).toBe(200);
    return answer.body.now;
  };

  it(`says row for row what a real run then does, over ${seeds} seeds`, async () => {
    const first = Number(process.env.SEED ?? Math.floor(performance.now() * 1_000) % 100_000);
    for (let seed = first; seed < first + seeds; seed++) {
      const before = await move({ advance: '1h' });
      const campaignId = await opened(home, before, (app, caller) => makeWorld(app, caller, seed));
      // The buckets of the daemon fill again, by the plan of this world.
      const drawing = await daemon.request('POST', '/v1/messages', {
        body: {
          ...{ channel: 'email', to: [{ email: 'delivered@simulator.test' }] },
          email: { subject: 'Draw', text: 'a token' },
        },
      });
      expect(drawing.status).toBe(201);
      const now = await move({ advance: '1h' });
      const said = await home.cli.json<Rehearsal>([
        ...['rehearse', '--campaign', campaignId, '--days', String(days)],
      ]);
      expect(said.from).toBe(now);
      const run = await daemon.request('POST', `/v1/campaigns/${campaignId}/runs`, { body: {} });
      expect(run.status, JSON.stringify(run.body)).toBe(201);
      const to = Date.parse(said.to);
      await move({ to: isoTime(to - 1) });
      const done = await opened(home, said.to, (app) =>
        readLedger(app.store.db, { from: Date.parse(now), to }, []),
      );
      expect(said.ledger.length).toBeGreaterThan(0);
      expect(rowsOf(said.ledger), `seed ${seed}`).toEqual(rowsOf(done));
      const total = (name: 'accepted' | 'delivered' | 'bounced') =>
        said.days.reduce((sum, day) => sum + day[name], 0);
      expect(total('bounced')).toBe(said.ledger.filter((one) => one.outcome === 'bounced').length);
      expect(total('delivered') + total('bounced')).toBe(
        said.ledger.filter(({ outcome }) => outcome !== 'waiting' && outcome !== 'failed').length,
      );
    }
  }, 300_000);

  it('leaves the store as it is', async () => {
    await daemon.stop();
    const before = await digestOf(home, schema);
    await home.cli.json(['rehearse', '--days', '40']);
    expect(await digestOf(home, schema)).toBe(before);
    expect(await home.cli.run(['dev', 'clock'])).toMatchObject({ code: 7 });
  });
});

/** Returns a digest of everything in the store. */
async function digestOf(home: DaemonHome, schema: PostgresSchema | null): Promise<string> {
  const hash = createHash('sha256');
  if (!schema) {
    const directory = home.cli.env.SVC_DATA_DIR ?? '';
    for (const name of readdirSync(directory).sort()) {
      const bytes = readFileSync(join(directory, name));
      // Readers open an empty log, and write their places into its index.
      if (bytes.length > 0 && !name.endsWith('-shm')) hash.update(name).update(bytes);
    }
    return hash.digest('hex');
  }
  const client = new pg.Client({ connectionString: schema.url });
  await client.connect();
  for (const name of migratedTables()) {
    const { rows } = await client.query(
      `select md5(string_agg(t::text, ',' order by t::text)) as digest from "${name}" t`,
    );
    hash.update(`${name} ${rows[0]?.digest}`);
  }
  await client.end();
  return hash.digest('hex');
}

describe('a rehearsal', () => {
  let home: DaemonHome;
  beforeAll(async () => {
    home = daemonHome();
    await home.makeStore();
  });
  afterAll(() => home.close());

  const campaign = async (tag: string, emails: readonly string[]) => {
    const group = await home.cli.json<{ id: string }>([
      'unsubscribe-groups',
      'create',
      '--name',
      tag,
    ]);
    const file = join(home.cli.directory, `${tag}.csv`);
    writeFileSync(file, ['email,tags', ...emails.map((email) => `${email},${tag}`)].join('\n'));
    await home.cli.json(['contacts', 'import', file]);
    const { id } = await home.cli.json<{ id: string }>([
      ...['campaigns', 'create', '--name', tag, '--subject', 'Hi', '--text', 'ho', '--tag', tag],
      ...['--unsubscribe-group', group.id],
    ]);
    return id;
  };

  it('opens no socket', async () => {
    const log = join(home.cli.directory, 'sockets');
    const hook = join(home.cli.directory, 'hook.mjs');
    writeFileSync(
      hook,
      `import { appendFileSync } from 'node:fs';
       import dgram from 'node:dgram'; import dns from 'node:dns'; import net from 'node:net';
       const tell = (what) => () => { appendFileSync(${JSON.stringify(log)}, what + '\\n'); throw new Error(what); };
       net.Socket.prototype.connect = tell('connect');
       net.Server.prototype.listen = tell('listen');
       dgram.createSocket = tell('dgram');
       dns.lookup = tell('lookup');
       appendFileSync(${JSON.stringify(log)}, 'hooked\\n');`,
    );
    const id = await campaign('sockets', ['a@example.com', 'inbox@sandbox.test', 'b@gmail.com']);
    const { code, stdout } = await home.cli.run(
      ['rehearse', '--campaign', id, '--days', '20', '--json'],
      { env: { NODE_OPTIONS: `--import ${hook}` } },
    );
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as Rehearsal).ledger).toHaveLength(3);
    const lines = readFileSync(log, 'utf8').trim().split('\n');
    expect(lines.length).toBeGreaterThan(0);
    expect(new Set(lines)).toEqual(new Set(['hooked']));
  });

  it('gives addresses the fate of their domain in a scenario, the same each time', async () => {
    const emails = Array.from(
      { length: 400 },
      (_, i) => `n${i}@${i % 2 ? 'bad.example.com' : 'good.test'}`,
    );
    const id = await campaign('scenario', emails);
    const file = join(home.cli.directory, 'scenario.yaml');
    writeFileSync(file, 'domains:\n  "*.example.com": { bounceRate: 0.05, complaintRate: 0.02 }\n');
    const args = ['rehearse', '--campaign', id, '--days', '1', '--scenario', file];
    const outcomes = async () => {
      const { ledger } = await home.cli.json<Rehearsal>(args);
      const rows = ledger.map(({ recipient, outcome }) => `${recipient} ${outcome}`);
      return rows.toSorted((a, b) => (a < b ? -1 : 1));
    };
    const found = await outcomes();
    const of = (outcome: string) => found.filter((row) => row.endsWith(` ${outcome}`));
    expect(found).toHaveLength(400);
    expect(of('bounced').length).toBeGreaterThan(2);
    expect(of('bounced').length).toBeLessThan(25);
    expect(of('complained').length).toBeGreaterThan(0);
    expect(
      [...of('bounced'), ...of('complained')].filter((row) => row.includes('@good.test')),
    ).toEqual([]);
    expect(await outcomes()).toEqual(found);
  });

  it('shows limits by day: a quota of the plan', async () => {
    const emails = Array.from({ length: 250 }, (_, i) => `q${i}@example.com`);
    const id = await campaign('quota', emails);
    const args = [
      'rehearse',
      '--campaign',
      id,
      '--days',
      '4',
      '--plan',
      'free',
      '--at',
      '2026-12-24T12:00:00Z',
    ];
    const { from, days: told } = await home.cli.json<Rehearsal>(args);
    expect(from).toBe('2026-12-24T12:00:00.000Z');
    expect(told.map(({ date, delivered }) => [date, delivered])).toEqual([
      ['2026-12-24', 100],
      ['2026-12-25', 100],
      ['2026-12-26', 50],
      ['2026-12-27', 0],
      ['2026-12-28', 0],
    ]);
    expect(told[0]?.limits).toContainEqual({
      kind: 'daily-quota',
      until: '2026-12-25T00:00:00.000Z',
    });
    expect(told[3]?.limits).toEqual([]);
    const { stdout } = await home.cli.run(args);
    expect(stdout).toContain('daily-quota until 2026-12-25T00:00');
    expect(stdout).toContain('more: svc rehearse --json');
  });

  it('refuses what it cannot play, and leaves no copy behind', async () => {
    const copies = join(home.cli.directory, 'copies');
    mkdirSync(copies);
    const env = { TMPDIR: copies };
    const scenario = join(home.cli.directory, 'wrong.yaml');
    writeFileSync(scenario, 'default: { bounceRate: 2 }\n');
    const refusals: [string[], number, string][] = [
      [['--days', '0'], 2, 'days'],
      [['--days', '367'], 2, 'days'],
      [['--at', '2020-01-01T00:00:00Z'], 2, 'time never goes back'],
      [['--campaign', 'camp_000000000000000000000000'], 3, 'camp_000000000000000000000000'],
      [['--plan', 'gold'], 2, 'plan'],
      [['--scenario', scenario], 2, 'default.bounceRate'],
      [['--scenario', 'none.yaml'], 2, 'none.yaml'],
    ];
    for (const [args, wanted, words] of refusals) {
      const { code, stderr } = await home.cli.run(['rehearse', ...args], { env });
      expect({ args, code, stderr }).toEqual({
        args,
        code: wanted,
        stderr: expect.stringContaining(words),
      });
    }
    expect(readdirSync(copies).filter((name) => name.startsWith('svc-'))).toEqual([]);
  });

  it('says that the disk is full, and leaves no copy behind', async () => {
    const copies = join(home.cli.directory, 'full');
    mkdirSync(copies);
    const limited = spawnSync('prlimit', ['--fsize=200000', svc, 'rehearse'], {
      cwd: home.cli.directory,
      env: { ...home.cli.env, TMPDIR: copies },
      encoding: 'utf8',
    });
    expect(limited.status, limited.stderr).toBe(7);
    expect(readdirSync(copies).filter((name) => name.startsWith('svc-'))).toEqual([]);
    const env = { TMPDIR: join(home.cli.directory, 'no-such-directory') };
    const { code, stderr } = await home.cli.run(['rehearse'], { env });
    expect({ code, stderr }).toEqual({
      code: 7,
      stderr: expect.stringContaining('no-such-directory'),
    });
    expect(existsSync(env.TMPDIR)).toBe(false);
  });
});
