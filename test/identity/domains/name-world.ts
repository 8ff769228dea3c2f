// Two organizations that registered one name, and the DNS zone that decides which of them can
// verify it.
import { afterEach, beforeEach } from 'vitest';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import { addDomain, getDomain } from '../../../src/identity/domains/domains.ts';
import type { Domain } from '../../../src/identity/domains/schema.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import type { TestStore } from '../../support/command.ts';
import { standIn } from '../../support/stand-in.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { startZone, type Zone } from './zone.ts';

export const name = 'acme.example';
export const dayMs = 86_400_000;

/**
 * `operator` and `caller` are the operator in the first of both organizations, not in `default`.
 */
export interface NameWorld extends TestApp {
  zone: Zone;
  /** The operator in the second organization. */
  second: Caller;
  ours: Domain;
  theirs: Domain;
  /** Publishes the records of these domains beside each other, and no others. */
  publish(...some: readonly Domain[]): void;
  verify(caller: Caller, domain: Domain): Promise<Domain>;
  statusOf(caller: Caller, domain: Domain): Promise<Domain['status']>;
  /** Takes the records of our verified domain away until it is `failed`. */
  fail(): Promise<void>;
}

function publishIn(zone: Zone, some: readonly Domain[]): void {
  zone.records.clear();
  for (const { type, name: at, value } of some.flatMap(({ dnsRecords }) => dnsRecords)) {
    const key = `${type} ${at}`;
    const before = zone.records.get(key) ?? [];
    zone.records.set(key, [...before.filter((one) => one !== value), value]);
  }
}

async function startWorld(store: TestStore): Promise<NameWorld> {
  const zone = await startZone();
  const config = { delivery: { hostname: 'mail.host.example' }, dns: { servers: [zone.server] } };
  const test = await testApp({ store, config });
  const { app, clock } = test;
  const operatorIn = async (organization: string) =>
    operatorOf((await createOrganization(app, { name: organization, plan: 'self-hosted' })).id);
  const operator = await operatorIn('First GmbH');
  const second = await operatorIn('Second GmbH');
  const ours = await addDomain(app, operator, { domain: name });
  const theirs = await addDomain(app, second, { domain: name });
  const publish = (...some: readonly Domain[]) => publishIn(zone, some);
  const verify = (caller: Caller, domain: Domain) => verifyDomain(app, caller, domain.id);
  publish(ours, theirs);
  return {
    ...{ ...test, operator, caller: operator },
    zone,
    second,
    ours,
    theirs,
    publish,
    verify,
    statusOf: async (caller, domain) => (await getDomain(app, caller, domain.id)).status,
    async fail() {
      publish();
      await verify(operator, ours);
      await clock.advance(3 * dayMs);
      await verify(operator, ours);
    },
    async close() {
      await test.close();
      await zone.close();
    },
  };
}

/** Starts a world for each test; returns a stand-in for the one of the running test. */
export function nameWorld(store: TestStore): NameWorld {
  let world: NameWorld | undefined;
  beforeEach(async () => {
    world = await startWorld(store);
  });
  afterEach(() => world?.close());
  return standIn(() => {
    if (!world) throw new Error('there is a world within a test only');
    return world;
  });
}
