// `svc audit` and `svc orgs review`: changes by the operator are recorded as the operator's.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Organization } from '../../../src/access/organizations/schema.ts';
import { operatorActor } from '../../../src/history/audit/audit.ts';
import type { AuditPage } from '../../../src/history/audit/schema.ts';
import { type CliWorkspace, initializedWorkspace } from '../../support/cli.ts';

const operator = operatorActor;

describe('svc', () => {
  let cli: CliWorkspace;
  beforeAll(async () => {
    cli = await initializedWorkspace();
    const pending = ['--plan', 'free', '--onboarding', 'pending'];
    await cli.json(['orgs', 'create', '--name', 'acme', ...pending]);
  });
  afterAll(() => cli.close());

  const audit = async (...args: string[]) =>
    (await cli.json<AuditPage>(['audit', '--org', 'acme', ...args])).items;

  it('orgs review and orgs reapply move the onboarding, guarded by the generation', async () => {
    const rejected = await cli.json<Organization>([
      'orgs',
      'review',
      'acme',
      '--reject',
      '--note',
      'who is it?',
      '--expected-generation',
      '1',
    ]);
    expect(rejected.onboarding).toEqual({ status: 'rejected', generation: 1 });
    const reapply = ['orgs', 'reapply', '--org', 'acme', '--expected-generation'];
    expect((await cli.run([...reapply, '2'])).code).toBe(5);
    expect(
      (await cli.json<Organization>([...reapply, '1', '--note', 'a shop'])).onboarding,
    ).toEqual({ status: 'pending', generation: 2 });
    const stale = ['orgs', 'review', 'acme', '--approve', '--expected-generation', '1'];
    expect((await cli.run(stale)).code).toBe(5);
    const shown = await cli.run(['orgs', 'review', 'acme', '--approve']);
    expect(shown.stdout).toMatch(/onboarding\.status +approved\nonboarding\.generation +2/);
    expect(
      (await audit()).map(({ action, actor, details }) => [action, actor, details.note]),
    ).toEqual([
      ['organization.onboarding-approved', operator, undefined],
      ['organization.onboarding-reapplied', operator, 'a shop'],
      ['organization.onboarding-rejected', operator, 'who is it?'],
      ['organization.created', operator, undefined],
    ]);
  });

  it.each([
    [['orgs', 'review', 'acme'], 2, 'give either --approve or --reject'],
    [
      ['orgs', 'create', '--name', 'b', '--plan', 'free', '--onboarding', 'rejected'],
      2,
      'onboarding',
    ],
    [['audit', '--action', 'key.stolen'], 2, 'action: is not one of action.approved'],
    [['audit', '--cursor', 'x'], 2, 'pass `nextCursor` back'],
  ])('%j ends with %d', async (args, code, words) => {
    const ended = await cli.run(args);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toContain(words);
  });

  it('orgs pause records its reason, and orgs resume its note', async () => {
    const reason = 'A leaked key';
    expect(await cli.json(['orgs', 'pause', 'acme', '--reason', reason])).toMatchObject({
      pauseReason: reason,
    });
    const note = 'The key is revoked';
    expect(await cli.json(['orgs', 'resume', 'acme', '--note', note])).toMatchObject({
      sendingStatus: 'enabled',
    });
    const [resumed, paused] = await audit('--limit', '2');
    expect(paused).toMatchObject({ action: 'organization.paused', details: { reason } });
    expect(resumed).toMatchObject({
      action: 'organization.resumed',
      actor: operator,
      details: { note, pauseReason: reason },
    });
  });

  it('audit prints a table by page, with the changes in words', async () => {
    await cli.json(['orgs', 'update', 'acme', '--plan', 'growth']);
    const { stdout } = await cli.run(['audit', '--org', 'acme', '--limit', '1']);
    const [head = '', row = '', , more = ''] = stdout.split('\n');
    expect(head).toMatch(/^createdAt +actor +action +resource +details$/);
    expect(row).toMatch(
      /^\d{4}-\S+Z +operator +organization\.updated +org_\S+ +plan: free → growth$/,
    );
    const cursor = /^More with --cursor (\S+)$/.exec(more)?.[1] ?? '';
    const next = await cli.run(['audit', '--org', 'acme', '--limit', '1', '--cursor', cursor]);
    expect(next.stdout).toContain('organization.resumed');
  });

  it('audit filters by one resource in the default organization', async () => {
    const { id } = await cli.json<{ id: string }>(['keys', 'create', '--name', 'ci']);
    const { items } = await cli.json<AuditPage>(['audit', '--resource', id]);
    expect(items.map(({ action, actor }) => [action, actor])).toEqual([['key.created', operator]]);
  });
});
