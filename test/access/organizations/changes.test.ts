// Changes of an organization, its pause and its resumption, as functions and as commands.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createOrganization,
  getOrganization,
  pauseOrganization,
  resumeOrganization,
  updateOrganization,
} from '../../../src/access/organizations/organizations.ts';
import type { UpdateOrganization } from '../../../src/access/organizations/schema.ts';
import { type CliWorkspace, initializedWorkspace } from '../../support/cli.ts';
import { stores } from '../../support/command.ts';
import { type EmptyTestApp, emptyTestApp } from '../../support/test-app.ts';

describe.each(stores)('an organization on %s', (store) => {
  let test: EmptyTestApp;
  beforeEach(async () => {
    test = await emptyTestApp({ store });
    await createOrganization(test.app, { name: 'acme', plan: 'free' });
    await createOrganization(test.app, { name: 'other', plan: 'free' });
  });
  afterEach(() => test.close());

  it('changes the named fields and nothing else', async () => {
    const before = await getOrganization(test.app, 'acme');
    const other = await getOrganization(test.app, 'other');
    const changed = await updateOrganization(test.app, before.id, { plan: 'scale' });
    expect(changed).toEqual({ ...before, plan: 'scale' });
    const rest = { paymentMethodOnFile: true, timezone: 'Europe/Berlin' };
    expect(await updateOrganization(test.app, 'acme', rest)).toEqual({ ...changed, ...rest });
    expect(await getOrganization(test.app, 'acme')).toEqual({ ...changed, ...rest });
    expect(await getOrganization(test.app, 'other')).toEqual(other);
  });

  it.each([
    [{ plan: 'gold' }, 'plan'],
    [{ timezone: '+02:00' }, 'timezone'],
    [{}, 'body'],
    [{ name: 'two\nlines' }, 'name'],
    [{ name: 'org_1' }, 'name'],
    [{ id: 'org_1' }, 'id'],
  ] as [UpdateOrganization, string][])('refuses to change %j', async (changes, field) => {
    const refused = updateOrganization(test.app, 'acme', changes);
    await expect(refused).rejects.toMatchObject({
      _tag: 'ValidationError',
      fieldErrors: { [field]: expect.anything() },
    });
  });

  it('is renamed: its id stays, and the old name is free', async () => {
    const before = await getOrganization(test.app, 'acme');
    const renamed = await updateOrganization(test.app, 'acme', { name: 'Acme Mail' });
    expect(renamed).toEqual({ ...before, name: 'Acme Mail' });
    expect(await getOrganization(test.app, before.id)).toEqual(renamed);
    await createOrganization(test.app, { name: 'acme', plan: 'free' });
  });

  it('cannot take the name of another one, also in a race', async () => {
    const message = 'An organization named "other" exists already';
    const conflict = { _tag: 'ConflictError', message };
    const taken = updateOrganization(test.app, 'acme', { name: 'other', plan: 'scale' });
    await expect(taken).rejects.toMatchObject(conflict);
    expect(await getOrganization(test.app, 'acme')).toMatchObject({ name: 'acme', plan: 'free' });
    expect(await updateOrganization(test.app, 'acme', { name: 'acme' })).toMatchObject({
      name: 'acme',
    });
    const another = await test.another();
    const tries = await Promise.allSettled([
      updateOrganization(test.app, 'acme', { name: 'wanted' }),
      updateOrganization(another, 'other', { name: 'wanted' }),
    ]);
    const refused = tries.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(refused).toMatchObject([
      { _tag: 'ConflictError', message: 'An organization named "wanted" exists already' },
    ]);
  });

  it('is paused with reason and time, and resumed to its earlier state', async () => {
    const before = await getOrganization(test.app, 'acme');
    const paused = await pauseOrganization(test.app, 'acme', { note: 'A leaked key' });
    expect(paused).toEqual({
      ...before,
      sendingStatus: 'paused',
      pausedAt: '2026-01-05T12:00:00.000Z',
      pauseReason: 'A leaked key',
    });
    expect(await resumeOrganization(test.app, 'acme')).toEqual(before);
  });

  it('is paused once by two concurrent commands', async () => {
    const another = await test.another();
    const tries = await Promise.allSettled([
      pauseOrganization(test.app, 'acme', { note: 'one' }),
      pauseOrganization(another, 'acme', { note: 'two' }),
    ]);
    expect(tries.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(pauseOrganization(test.app, 'acme', {})).rejects.toMatchObject({
      _tag: 'ConflictError',
      message: 'Sending of "acme" is already paused',
    });
    await resumeOrganization(test.app, 'acme');
    await expect(resumeOrganization(test.app, 'acme')).rejects.toMatchObject({
      _tag: 'ConflictError',
    });
  });

  it('answers 404 when unknown', async () => {
    const notFound = { _tag: 'ResourceNotFoundError', resource: 'organization', id: 'nobody' };
    const changed = updateOrganization(test.app, 'nobody', { plan: 'free' });
    await expect(changed).rejects.toMatchObject(notFound);
    await expect(pauseOrganization(test.app, 'nobody', {})).rejects.toMatchObject(notFound);
    await expect(resumeOrganization(test.app, 'nobody')).rejects.toMatchObject(notFound);
  });

  it.each(['', 'two\nlines', 'x'.repeat(501)])('refuses the note %j', async (note) => {
    await expect(pauseOrganization(test.app, 'acme', { note })).rejects.toMatchObject({
      _tag: 'ValidationError',
      fieldErrors: { note: expect.anything() },
    });
  });
});

describe('the commands of organizations', () => {
  let cli: CliWorkspace;
  beforeAll(async () => {
    cli = await initializedWorkspace();
  });
  afterAll(() => cli.close());

  it('create, change, show, pause and resume', async () => {
    await cli.json(['orgs', 'create', '--name', 'acme', '--plan', 'free']);
    const shown = await cli.run(['plan', 'show', '--org', 'acme']);
    expect(shown.stdout).toContain('Lifted by: svc orgs update acme --payment-method');
    expect(await cli.json(['orgs', 'update', 'acme', '--payment-method'])).toMatchObject({
      paymentMethodOnFile: true,
    });
    expect(await cli.json(['plan', 'show', '--org', 'acme'])).toMatchObject({
      rate: { perSecond: 5, burst: 10, burstPerKey: 5 },
      daily: { limitEmails: 200 },
    });
    const note = 'A leaked key';
    expect(await cli.json(['orgs', 'pause', 'acme', '--note', note])).toMatchObject({
      sendingStatus: 'paused',
      pauseReason: note,
    });
    expect((await cli.run(['orgs', 'pause', 'acme'])).code).toBe(5);
    expect(await cli.json(['orgs', 'resume', 'acme'])).toMatchObject({ sendingStatus: 'enabled' });
  });

  it('rename an organization, and report a conflict of names', async () => {
    await cli.json(['orgs', 'create', '--name', 'old', '--plan', 'free']);
    expect(await cli.json(['orgs', 'update', 'old', '--name', 'new'])).toMatchObject({
      name: 'new',
      plan: 'free',
    });
    const taken = await cli.run(['orgs', 'update', 'new', '--name', 'default']);
    expect([taken.code, taken.stderr]).toEqual([
      5,
      'svc: An organization named "default" exists already\n',
    ]);
    expect((await cli.run(['orgs', 'show', 'old'])).code).toBe(3);
  });

  it('explain a missing plan and a missing name', async () => {
    const unplanned = await cli.run(['orgs', 'create', '--name', 'unplanned']);
    expect(unplanned.code).toBe(2);
    expect(unplanned.stderr).toContain(
      'plan: must name a plan: free, starter, growth, scale, self-hosted or one of the configuration',
    );
    const unnamed = await cli.run(['orgs', 'create', '--plan', 'free']);
    expect(unnamed.code).toBe(2);
    expect(unnamed.stderr).toContain('name: must be a name of 1 to 100 characters');
  });

  it('end with 2 without a change, 4 when paused, 6 beyond the quota', async () => {
    expect((await cli.run(['orgs', 'update', 'default'])).code).toBe(2);
    const send = ['messages', 'send', '--subject', 'Hi', '--text', 'Hi', '--to'];
    await cli.json(['orgs', 'pause', 'default']);
    const paused = await cli.run([...send, 'inbox@sandbox.test']);
    expect([paused.code, paused.stderr]).toEqual([
      4,
      'svc: Sending is paused: the operator paused it.\n',
    ]);
    await cli.json(['orgs', 'resume', 'default']);
    const env = { SVC_PLANS: '{"none":{"ratePerSecond":1,"dailyEmails":0,"trialCaps":false}}' };
    await cli.run(['orgs', 'update', 'default', '--plan', 'none'], { env });
    const refused = await cli.run([...send, 'inbox@sandbox.test'], { env });
    expect([refused.code, refused.stderr]).toEqual([6, 'svc: daily-emails: 0 of 0 used\n']);
  });
});
