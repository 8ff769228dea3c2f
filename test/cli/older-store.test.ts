// Every command against a store of an earlier schema: none but the named writers changes a schema,
// and all but the named readers end with 7. Commands are found by their files, and their words are
// made from their arguments and flags. Slow: each of 120 commands runs once against an earlier
// schema.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { listCommandIds } from '../../commands/base/input/typed.ts';
import { checks } from '../../src/doctor/examine.ts';
import type { Finding } from '../../src/doctor/finding.ts';
import { systemClock } from '../../src/platform/runtime/clock.ts';
import { migrations } from '../../src/platform/store/migrate.ts';
import { openStore } from '../../src/platform/store/open.ts';
import { removeWithCompanions } from '../../src/platform/store/sqlite/database-files.ts';
import { commandClass } from '../docs/write.ts';
import { type CliWorkspace, initializedWorkspace, repository } from '../support/cli.ts';
import { stores, type TestStore } from '../support/command.ts';
import { until } from '../support/daemon-process.ts';
import { freePort } from '../support/pebble.ts';
import { postgresSchema } from '../support/postgres.ts';
import { closeSchemaReader, schemaOfFile } from '../support/schema-of-file.ts';
import { hasTerminal, onTerminal } from '../support/terminal.ts';

const last = migrations.at(-1)?.name;
/** The migration that the commands have and the store has not. */
const needed = '0002-made-up';
const preload = { NODE_OPTIONS: `--import=${join(repository, 'test/support/next-migration.ts')}` };
const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));

/** Commands that write a schema, of a target that is their own. */
const writers = ['daemon', 'init', 'migrate:copy', 'restore'];
/** Commands that read a store of any earlier schema. */
const readers = [
  ...['backup', 'config:check', 'config:example', 'config:show', 'daemon:unit'],
  ...['doctor', 'migrate:status', 'status'],
];
/** Commands that refuse to run without a terminal. */
const onlyOnTerminals = ['mailboxes:review'];
const named = [...writers, ...readers, ...(hasTerminal ? [] : onlyOnTerminals)];
const others = listCommandIds().filter((id) => !named.includes(id));

/**
 * Words that no argument or flag tells: names of files that are read first, a list of values, one
 * of two flags.
 */
const ownWords: Readonly<Record<string, string[]>> = {
  'backup:verify': ['made.db'],
  'daemon:drain': ['--ready-file', 'none.json'],
  'extensions:publish': ['x', '--to-all'],
  'migrate:copy': ['--to', 'sqlite:copied.db'],
  'import:templates': ['made.json', '--from', 'resend'],
  'messages:batch': ['--data', '{}'],
  'orgs:review': ['x', '--approve'],
  'receipt:verify': ['made.json'],
  'templates:pull': ['clone'],
  'templates:push': ['clone'],
  'threads:label': ['x', '--add', 'x'],
  'threads:snooze': ['x', '--end'],
  'webhooks:redeliver': ['x', 'x'],
  'webhooks:verify': ['--secret-file', 'made.json', '--headers', 'made.json'],
};

async function wordsOf(id: string): Promise<string[]> {
  const { args, flags = {} } = await commandClass(id);
  const required = Object.values(args).filter((arg) => arg.required);
  const flagWords = Object.entries(flags).flatMap(([name, flag]) => {
    if (name === 'yes') return ['--yes'];
    if (!flag.required) return [];
    return [`--${name}`, ('options' in flag && flag.options?.[0]) || 'x'];
  });
  return [...id.split(':'), ...(ownWords[id] ?? [...required.map(() => 'x'), ...flagWords])];
}

interface OlderStore {
  cli: CliWorkspace;
  file: string;
  url: string;
  /** Everything that a migration could change. */
  schemaNow(): Promise<unknown>;
  /** Runs SQL as a daemon of another version would. */
  exec(text: string): Promise<unknown>;
  close(): Promise<void>;
}

const organization = `insert into organizations (id, name, plan, payment_method_on_file, timezone,
  sending_status, onboarding_status, onboarding_generation, created_at, updated_at, is_first)
  values ('org_06dq2k0qz8h3v5m1r9t4w7xy', 'default', 'self-hosted', 0, 'UTC', 'active', 'approved', 1, 1, 1, 1)`;

/** Writes the files that commands read before the store. */
function writeFiles(directory: string): void {
  const clone = join(directory, 'clone');
  mkdirSync(clone);
  writeFileSync(join(directory, 'made.json'), '{}');
  writeFileSync(join(clone, 'index.liquid'), 'Hello');
  const state = { template: 'tpl_06dq2k0qz8h3v5m1r9t4w7xy', commit: 'a'.repeat(40) };
  writeFileSync(join(clone, '.svc-template.json'), JSON.stringify(state));
}

/**
 * Makes a store with these migrations, an organization and a secret, and the files that commands
 * read.
 */
async function olderStore(kind: TestStore, more: Record<string, string> = {}): Promise<OlderStore> {
  const schema = kind === 'postgres' ? await postgresSchema(inject('postgresUrl')) : undefined;
  const env = { ...preload, ...more, ...(schema && { SVC_DATABASE_URL: schema.url }) };
  const cli = await initializedWorkspace(env);
  const dataDir = join(cli.directory, 'data');
  const file = join(dataDir, 'svc.db');
  removeWithCompanions(file);
  const url = schema?.url ?? 'sqlite:svc.db';
  const store = await openStore({ url }, dataDir, systemClock);
  await store.write(async (trx) => {
    await sql.raw(organization).execute(trx);
  });
  await store.close();
  writeFiles(cli.directory);
  const client = new pg.Client({ connectionString: schema?.url });
  if (schema) await client.connect();
  return {
    cli,
    file,
    url,
    schemaNow: async () => (schema ? schemaOfDatabase(client) : schemaOfFile(file)),
    exec: async (text) => (schema ? client.query(text) : execOnFile(file, text)),
    async close() {
      closeSchemaReader(file);
      cli.close();
      if (schema) await client.end();
      await schema?.drop();
    },
  };
}

function execOnFile(file: string, text: string): void {
  const database = new Database(file);
  database.exec(text);
  database.close();
}

async function schemaOfDatabase(client: pg.Client): Promise<unknown> {
  const columns = `select table_name, column_name, data_type from information_schema.columns
    where table_schema = current_schema() order by 1, 2`;
  const indexes =
    'select indexname, indexdef from pg_indexes where schemaname = current_schema() order by 1';
  const found: unknown[] = [];
  for (const text of [columns, indexes, 'select * from migrations order by name'])
    found.push((await client.query(text)).rows);
  return found;
}

const earlierRefusal = `The store is of migration ${last}, this svc needs ${needed}: start the daemon of this version first`;

/** Returns the fault of a command, or null: it ends with 7, or does the same without any store. */
async function faultOf(
  cli: CliWorkspace,
  id: string,
  refusal = earlierRefusal,
): Promise<string | null> {
  const words = await wordsOf(id);
  const found = onlyOnTerminals.includes(id)
    ? await onTerminal(cli, words.join(' ')).then(({ code, output }) => {
        return { code, stdout: '', stderr: output };
      })
    : await cli.run(words);
  const refused = id === 'sendmail' ? 69 : 7;
  const told = `svc ${words.join(' ')} ended with ${found.code}: ${found.stderr || found.stdout}`;
  if (found.stderr.includes(refusal)) return found.code === refused && !found.stdout ? null : told;
  const nowhere = join(cli.directory, 'nowhere');
  const env = { SVC_DATA_DIR: nowhere, SVC_DATABASE_URL: 'sqlite:svc.db' };
  const without = await cli.run(words, { env });
  const isSame = found.code === without.code && found.stdout === without.stdout;
  return isSame && !existsSync(nowhere) && !without.stderr.includes('no store at') ? null : told;
}

describe.each(stores)('on %s, a store of an earlier schema', (kind) => {
  let store: OlderStore;
  let before: unknown;
  beforeAll(async () => {
    store = await olderStore(kind);
    before = await store.schemaNow();
    await store.cli.json(['backup', 'made.db']);
  });
  afterAll(() => store.close());

  it.each(others)('is left alone by svc %s', async (id) => {
    expect(await faultOf(store.cli, id)).toBeNull();
    // On a migrated store the commands after this one would work, some without end.
    expect(await store.schemaNow()).toEqual(before);
  });
});

describe.each(stores)('on %s', (kind) => {
  describe('a store of an earlier schema', () => {
    let store: OlderStore;
    let before: unknown;
    beforeAll(async () => {
      const port = String(await freePort());
      store = await olderStore(kind, { SVC_HTTP_PORT: port, SVC_DELIVERY_MODE: 'direct' });
      before = await store.schemaNow();
    });
    afterAll(async () => {
      const after = await store.schemaNow();
      await store.close();
      expect(after).toEqual(before);
    });

    it('is copied by svc backup, and the copy has the same schema', async () => {
      const { hasSecret } = await store.cli.json<{ hasSecret: boolean }>([
        ...['backup', 'copy.db', '--verify', '--with-secret'],
      ]);
      expect(hasSecret).toBe(true);
      const copy = new Database(join(store.cli.directory, 'copy.db'), { readonly: true });
      const names = copy.prepare('select name from migrations order by name').pluck().all();
      expect(names).toEqual([last]);
      expect(copy.prepare('select name from organizations').pluck().all()).toEqual(['default']);
      copy.close();
    });

    it('is shown by svc status', async () => {
      const { code, stdout, stderr } = await store.cli.run(['status', '--json']);
      expect([code, stderr]).toEqual([7, expect.stringContaining('The daemon is not ready')]);
      expect(JSON.parse(stdout)).toMatchObject({
        earlierSchema: `is of migration ${last}, this svc needs ${needed}`,
        endpoints: { active: 0, failing: 0 },
      });
      expect((await store.cli.run(['status'])).stdout).toContain(`is of migration ${last}`);
    });

    it('is examined by svc doctor', async () => {
      const only = checks.filter((check) => !check.needsInternet && !check.isOfMail);
      const names = only.map(({ name }) => name).filter((name) => name !== 'resolver');
      const { stdout } = await store.cli.run(['doctor', '--json', '--only', names.join(',')]);
      const { findings } = JSON.parse(stdout) as { findings: Finding[] };
      expect(findings.map(({ check }) => check)).toEqual(names);
      expect(findings.filter(({ found }) => found.startsWith('the check could not'))).toEqual([]);
      expect(findings.find(({ check }) => check === 'database-schema')).toMatchObject({
        status: 'warn',
        found: `the store is of migration ${last}, this svc needs ${needed}`,
        remedy: expect.stringContaining('start the daemon of this version first'),
      });
    });

    it.each([
      ['config', 'check'],
      ['config', 'example'],
      ['config', 'show', '--origin'],
      ['daemon', 'unit'],
      ['migrate', 'status'],
    ])('is borne by svc %s %s', async (...words) => {
      expect((await store.cli.run(words)).code).toBe(0);
    });

    it('exists already for svc init', async () => {
      const made = await store.cli.json(['init']);
      expect(made).toMatchObject({ created: false, apiKey: null });
    });

    it('is copied to the other engine as it is', async () => {
      const other = kind === 'sqlite' ? await postgresSchema(inject('postgresUrl')) : undefined;
      const to = other?.url ?? `sqlite:${join(store.cli.directory, 'other.db')}`;
      const env = { SVC_DATABASE_URL: to };
      try {
        await store.cli.json(['migrate', 'copy', '--to', to]);
        const status = await store.cli.json<{
          items: { name: string; appliedAt: string | null }[];
        }>(['migrate', 'status'], { env });
        const applied = status.items.filter(({ appliedAt }) => appliedAt !== null);
        expect(applied.map(({ name }) => name)).toEqual([last]);
      } finally {
        await other?.drop();
      }
    });
  });

  describe('a daemon on a store of an earlier schema', () => {
    let store: OlderStore;
    let url: string;
    let log = '';
    const ready = async () => {
      const answer = await fetch(`${url}/readyz`);
      return [answer.status, ((await answer.json()) as { schema: boolean }).schema];
    };
    beforeAll(async () => {
      const port = String(await freePort());
      store = await olderStore(kind, { SVC_HTTP_PORT: port });
      url = `http://127.0.0.1:${port}`;
      store.cli.start(['daemon', '--ready-file', 'ready.json']).stderr?.on('data', (lines) => {
        log += lines;
      });
      await until(() => existsSync(join(store.cli.directory, 'ready.json')), 'a ready daemon');
    });
    afterAll(() => store.close());

    it('migrates it', async () => {
      expect((await store.cli.run(['keys', 'list'])).code).toBe(0);
      expect(await ready()).toEqual([200, true]);
    });

    it('keeps svc dev reset from its store', async () => {
      const { code, stderr } = await store.cli.run(['dev', 'reset', '--yes']);
      expect([code, stderr]).toEqual([7, expect.stringContaining('already runs on')]);
      expect((await store.cli.run(['keys', 'list'])).code).toBe(0);
    });

    it('stays ready after an additive migration of a newer one', async () => {
      await store.exec(`insert into migrations (name, applied_at) values ('9998-additive', 1)`);
      await expect.poll(ready).toEqual([503, false]);
      await store.exec(`insert into compatible_versions values ('9998-additive', '${needed}')`);
      await expect.poll(ready).toEqual([200, true]);
    });

    it('is not ready after any other, and says so in its log', async () => {
      await store.exec(`insert into migrations (name, applied_at) values ('9999-breaking', 1)`);
      await expect.poll(ready).toEqual([503, false]);
      await until(
        () => log.includes('newer version of svc (migration 9999-breaking)'),
        'a log line',
      );
      await store.exec(`delete from migrations where name = '9999-breaking'`);
      await expect.poll(ready).toEqual([200, true]);
    });

    it('is named by a command that needs a later schema', async () => {
      await store.exec(`delete from migrations where name = '${needed}'`);
      const { code, stderr } = await store.cli.run(['keys', 'list']);
      const words = `${earlierRefusal}. The daemon of version ${version} runs on it: stop it before`;
      expect([code, stderr]).toEqual([7, expect.stringContaining(words)]);
    });

    it.runIf(kind === 'sqlite')('keeps a newer daemon from its file', async () => {
      const { code, stderr } = await store.cli.run(['daemon']);
      expect([code, stderr]).toEqual([7, expect.stringContaining('already runs on')]);
      const { items } = await store.cli.json<{
        items: { name: string; appliedAt: string | null }[];
      }>([...['migrate', 'status']]);
      expect(items.find(({ name }) => name === needed)?.appliedAt).toBeNull();
    });
  });

  it('a restore keeps or makes the schema of its own target', async () => {
    const store = await olderStore(kind);
    const empty = kind === 'postgres' ? await postgresSchema(inject('postgresUrl')) : undefined;
    const target = join(store.cli.directory, 'restored');
    const env = { SVC_DATA_DIR: target, SVC_DATABASE_URL: empty?.url ?? 'sqlite:svc.db' };
    try {
      const before = await store.schemaNow();
      await store.cli.json(['backup', 'copy.db', '--with-secret']);
      await store.cli.json(['restore', 'copy.db', '--yes'], { env });
      expect(await store.schemaNow()).toEqual(before);
      const { code, stderr } = await store.cli.run(['keys', 'list'], { env });
      // On SQLite the next daemon migrates the restored file.
      if (kind === 'sqlite')
        expect([code, stderr]).toEqual([7, expect.stringContaining(earlierRefusal)]);
      else expect(code).toBe(0);
    } finally {
      await store.close();
      await empty?.drop();
    }
  });
});

/** Commands that print the place of a store that they do not open, or replace it. */
const withoutStore = ['config:show', 'restore'];

describe('a store of an earlier commit', () => {
  let cli: CliWorkspace;
  let file: string;
  let before: unknown;
  beforeAll(async () => {
    cli = await initializedWorkspace(preload);
    file = join(cli.directory, 'data', 'svc.db');
    await cli.json(['backup', 'made.db']);
    execOnFile(file, `delete from migrations where name = '${needed}'`);
    execOnFile(file, "update migrations set name = '0001-schema-00000000'");
    writeFiles(cli.directory);
    before = schemaOfFile(file);
  });
  afterAll(() => {
    closeSchemaReader(file);
    cli.close();
  });

  it('is refused by every command, and stays as it was', { timeout: 180_000 }, async () => {
    const refusal = 'from before the first release (migration 0001-schema-00000000)';
    const faults: string[] = [];
    const notHere = [...onlyOnTerminals, ...withoutStore];
    for (const id of listCommandIds().filter((one) => !notHere.includes(one))) {
      const fault = await faultOf(cli, id, refusal);
      if (fault) faults.push(fault);
      expect(schemaOfFile(file), `svc ${id} changed the schema`).toEqual(before);
    }
    expect(faults).toEqual([]);
  });
});
