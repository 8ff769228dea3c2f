// The daily examination: what has turned to warn or fail is told once, to the operator's
// organization only.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import { examineDaily, restoreFindings } from '../../../src/doctor/daily.ts';
import type { Finding, Machine } from '../../../src/doctor/finding.ts';
import { thisMachine } from '../../../src/doctor/machine.ts';
import { selectFindings } from '../../../src/doctor/queries.ts';
import { listLog } from '../../../src/history/events/log.ts';
import { stores } from '../../support/command.ts';
import { meetInWrites } from '../../support/meeting-writes.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const gigabyte = 1024 ** 3;
const machine = (free: number): Machine => ({
  ...thisMachine,
  mostOpenFiles: () => 65_536,
  disk: () => ({ freeBytes: free * gigabyte, totalBytes: 40 * gigabyte }),
});

describe.each(stores)('the daily examination on %s', (store) => {
  let test: TestApp;
  let lines: string[];
  let foreign: Caller;
  beforeEach(async () => {
    lines = [];
    test = await testApp({ store, log: { write: (line: string) => void lines.push(line) } });
    const { id } = await createOrganization(test.app, { name: 'Other', plan: 'free' });
    foreign = operatorOf(id);
  });
  afterEach(() => test.close());

  const told = async (caller = test.caller) => {
    const { items } = await listLog(test.app, caller, {
      ...{ type: ['service.finding'], order: 'asc', limit: 100 },
    });
    return items
      .map(({ organizationId, data }) => ({ organizationId, ...(data as unknown as Finding) }))
      .filter(({ check }) => check === 'disk')
      .map(({ organizationId, status }) => [organizationId, status]);
  };
  const gauge = async (check: string) => {
    const { values } = await test.app.metrics.findings.get();
    return values.find(({ labels }) => labels.check === check)?.value;
  };
  const ours = () => test.caller.organizationId;

  it('keeps the metrics of findings over a restart', async () => {
    await examineDaily(test.app, machine(1));
    const before = (await test.app.metrics.findings.get()).values;
    const restarted = await test.another();
    expect((await restarted.metrics.findings.get()).values).toEqual([]);
    await restoreFindings(restarted);
    const after = (await restarted.metrics.findings.get()).values;
    const sorted = (values: typeof before) =>
      values.map(({ labels, value }) => `${labels.check} ${value}`).sort();
    expect(sorted(after)).toEqual(sorted(before));
    expect(await gauge('disk')).toBe(1);
  });

  it('tells a finding when it turns to warn, when it turns to fail, and not again', async () => {
    await examineDaily(test.app, machine(20));
    expect([await told(), await gauge('disk')]).toEqual([[], 0]);
    await examineDaily(test.app, machine(1));
    await examineDaily(test.app, machine(1.5));
    expect([await told(), await gauge('disk')]).toEqual([[[ours(), 'warn']], 1]);
    await examineDaily(test.app, machine(0.1));
    expect([await told(), await gauge('disk')]).toEqual([
      [
        [ours(), 'warn'],
        [ours(), 'fail'],
      ],
      2,
    ]);
    await examineDaily(test.app, machine(20));
    await examineDaily(test.app, machine(1));
    expect((await told()).map(([, status]) => status)).toEqual(['warn', 'fail', 'warn']);
    expect(await told(foreign)).toEqual([]);
    const row = (await selectFindings(test.app.store.db)).find(({ name }) => name === 'disk');
    expect(row).toMatchObject({ status: 'warn', found: expect.stringContaining('1.0 GB') });
    const logged = lines.map((line) => JSON.parse(line)).filter((line) => line.check === 'disk');
    expect(logged.map(({ level, status }) => [level, status])).toEqual([
      ['warn', 'warn'],
      ['error', 'fail'],
      ['warn', 'warn'],
    ]);
  });

  it('tells a finding once when two daemons examine at the same time', async () => {
    meetInWrites(test.app.store, 2);
    const run = () => examineDaily(test.app, machine(1));
    await Promise.all([run(), run()]);
    expect(await told()).toEqual([[ours(), 'warn']]);
  });
});
