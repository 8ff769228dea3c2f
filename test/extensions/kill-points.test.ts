// A daemon dies while it installs, upgrades, disables, rotates and uninstalls an extension.
// Whatever is stored, the key, the endpoint and the installation agree about its grants, and
// nothing of a lost installation works. Each seed is one death, before, within or after one of the
// transactions. KILL_POINTS=200 is a soak; KILL_SEED=<the seed in the name of a failed test>
// repeats one.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { uninstall } from '../../src/extensions/installation-routes.ts';
import type { Installed } from '../../src/extensions/installation-schema.ts';
import { install } from '../../src/extensions/installations.ts';
import type { ExtensionVersion } from '../../src/extensions/schema.ts';
import {
  disableInstallation,
  enableInstallation,
  rotateCredentials,
} from '../../src/extensions/standing.ts';
import { upgradeInstallation } from '../../src/extensions/upgrade.ts';
import { eventToRecord, record } from '../../src/history/events/record.ts';
import { contactCreated } from '../../src/people/contacts/events.ts';
import { seededRandom } from '../../src/platform/runtime/random.ts';
import { inLong, stores } from '../support/command.ts';
import { eachApp } from '../support/each-app.ts';
import { type KillPoint, moments, mortal } from '../support/mortal.ts';
import type { TestApp } from '../support/test-app.ts';
import { grantsOf, makeExtension, publish } from './fixtures.ts';

const givenSeed = process.env.KILL_SEED;
const firstSeed = Number(givenSeed ?? Math.floor(Math.random() * 1_000_000));
const points = (most: number) => (givenSeed ? 1 : Number(process.env.KILL_POINTS ?? most));
const seedsOn = { sqlite: points(inLong(8, 2)), postgres: points(4) };

/** Transactions of the story, with the deliveries that it removes. */
const mostTransactions = 11;

const permissions = ['contacts:read', 'messages:read', 'domains:read', 'senders:read'] as const;
const events = ['contact.created', 'contact.deleted', 'domain.held'] as const;

const created = eventToRecord(contactCreated, contactCreated.sample);

/** Fields that an installation, its key and its endpoint must agree about. */
interface Stored {
  id: string;
  status: string;
  permissions: string;
  events: string;
  send_mode: string;
  is_active: number;
  key_permissions: string;
  key_events: string;
  key_mode: string;
  endpoint_status: string | null;
  endpoint_events: string;
  endpoint_permissions: string;
  last_version: string | null;
  version: string;
}

async function expectWhole({ app }: TestApp, where: string): Promise<void> {
  const { db } = app.store;
  const { rows } = await sql<Stored>`
    select i.id, i.status, v.permissions, v.events, i.send_mode, v.version,
      k.is_active, k.permissions as key_permissions, k.events as key_events, k.send_mode as key_mode,
      e.status as endpoint_status, e.events as endpoint_events, e.permissions as endpoint_permissions,
      (select to_version from installation_version_changes c
        where c.installation_id = i.id order by c.id desc limit 1) as last_version
    from extension_installations i
    join extension_versions v on v.id = i.version_id
    join api_keys k on k.id = i.key_id
    left join webhook_endpoints e on e.id = i.endpoint_id`.execute(db);
  for (const row of rows) {
    const inMap = Object.entries(JSON.parse(row.key_permissions) as Record<string, string[]>);
    const granted = inMap.flatMap(([name, actions]) => actions.map((one) => `${name}:${one}`));
    expect(granted.toSorted(), where).toEqual(JSON.parse(row.permissions));
    expect(JSON.parse(row.key_events), where).toEqual(JSON.parse(row.events));
    expect(JSON.parse(row.endpoint_events), where).toEqual(JSON.parse(row.events));
    expect(row.endpoint_permissions, where).toBe(row.key_permissions);
    expect(row.key_mode, where).toBe(row.send_mode);
    const isOn = row.status === 'active';
    expect([row.is_active, row.endpoint_status], where).toEqual(
      isOn ? [1, 'active'] : [0, 'suspended'],
    );
    expect(row.last_version ?? '1.0.0', where).toBe(row.version);
  }
  const count = async (text: string) =>
    Number((await sql<{ n: number }>`${sql.raw(text)}`.execute(db)).rows[0]?.n);
  const of = 'installation_id is not null';
  const keys = `select count(*) as n from api_keys where ${of} and is_active = 1`;
  const on = rows.filter(({ status }) => status === 'active').length;
  expect(await count(keys), where).toBe(on);
  const endpoints = `select count(*) as n from webhook_endpoints where ${of}`;
  expect(await count(endpoints), where).toBe(rows.length);
  const waiting = `select count(*) as n from webhook_deliveries d where status = 'pending' and
    not exists (select 1 from webhook_endpoints e where e.id = d.endpoint_id)`;
  expect(await count(waiting), where).toBe(0);
}

describe.each(stores)('a daemon that dies while it changes an installation, on %s', (store) => {
  const test = eachApp({ store, config: { webhooks: { allowPrivateAddresses: true } } });
  const seeds = Array.from({ length: seedsOn[store] }, (_, index) => firstSeed + index);

  it.each(seeds)('leaves it whole or not at all (KILL_SEED=%i)', async (seed) => {
    const { operator } = test;
    const random = seededRandom(seed);
    const pick = (most: number) => Math.floor(random.float() * most);
    const some = <T>(all: readonly T[]) => all.filter(() => pick(2) === 0);
    const moment = moments[seed % moments.length] ?? 'after';
    const point: KillPoint = { moment, nth: 1 + pick(mostTransactions) };
    const where = JSON.stringify({ seed, ...point });
    const { id } = await makeExtension(test.app, operator, { runtime: 'webhook' });
    const versions: ExtensionVersion[] = [];
    for (const version of ['1.0.0', '1.1.0', '2.0.0']) {
      const asked = { permissions: some(permissions), events: some(events) };
      versions.push(await publish(test.app, operator, id, { version, ...asked }));
    }
    const [first] = versions;
    if (!first) throw new Error('no version');
    const victim: App = { ...test.app, store: { ...test.app.store } };
    const died = mortal(victim, point);
    /** Upgrades to a version with all of its new grants. */
    const upgrade = (made: Installed, from: number, to: number) => {
      const [before, after] = [versions[from], versions[to]].map((one) =>
        one ? grantsOf(one) : [],
      );
      const acceptPermissions = after?.filter((one) => !before?.includes(one)) ?? [];
      const version = versions[to]?.version ?? '';
      return upgradeInstallation(victim, operator, made.id, { version, acceptPermissions });
    };
    const story = async () => {
      const made = await install(victim, operator, {
        ...{ extensionId: id, version: '1.0.0', webhookUrl: 'http://127.0.0.1:9/' },
        acceptPermissions: grantsOf(first),
      });
      const subject = victim.newId({ prefix: 'contact' });
      await victim.store.write((trx) => record(victim, trx, operator, { subject, event: created }));
      await upgrade(made, 0, 1);
      await rotateCredentials(victim, operator, made.id);
      await disableInstallation(victim, operator, made.id);
      await upgrade(made, 1, 2);
      await enableInstallation(victim, operator, made.id);
      await upgrade(made, 2, 0);
      await uninstall(victim, operator, made.id);
    };
    await Promise.race([story(), died]);
    await expectWhole(test, where);
  });
});
