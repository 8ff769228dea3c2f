// Addresses on the domain that the service hosts for all organizations: who may take one, and when
// it is free.
import { beforeEach, describe, expect, it } from 'vitest';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import { domains, findSendingDomain } from '../../../src/identity/domains/queries.ts';
import { findHostedSender } from '../../../src/identity/mailboxes/addresses.ts';
import {
  addAddress,
  createMailbox,
  deleteMailbox,
} from '../../../src/identity/mailboxes/mailboxes.ts';
import { senders } from '../../../src/identity/senders/queries.ts';
import { resolveSender } from '../../../src/identity/senders/resolve.ts';
import { createSender } from '../../../src/identity/senders/senders.ts';
import { resolveAddressee } from '../../../src/inbox/receiving/resolve.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { meetInWrites } from '../../support/meeting-writes.ts';

describe.each(stores)('an address on the hosted domain, on %s', (store) => {
  const test = eachApp({ store });
  let tenant: Caller;
  let other: Caller;
  beforeEach(async () => {
    const made = async (name: string) =>
      operatorOf((await createOrganization(test.app, { name, plan: 'free' })).id);
    tenant = await made('tenant');
    other = await made('other');
  });

  const take = (by: Caller, slug: string) => createMailbox(test.app, by, { slug });
  const conflict = (resource: string) => ({ _tag: 'ConflictError', resource });

  it('is taken by the default sender of the operator', async () => {
    await expect(take(tenant, 'hello')).rejects.toMatchObject(conflict('mailbox'));
    await expect(take(test.operator, 'hello')).resolves.toBeDefined();
  });

  it('is taken by any sender of the operator, in any case of letters', async () => {
    await createSender(test.app, test.operator, { email: 'News@sandbox.test' });
    await expect(take(tenant, 'news')).rejects.toMatchObject(conflict('mailbox'));
    const desk = await take(tenant, 'desk');
    const more = addAddress(test.app, tenant, desk.id, { address: 'NEWS@sandbox.test' });
    await expect(more).rejects.toMatchObject(conflict('mailbox'));
  });

  it('is taken by a proven sender of any organization', async () => {
    const { id } = await createSender(test.app, tenant, { email: 'news@sandbox.test' });
    // An unproven sender takes nothing: anybody can create one.
    const mailbox = await take(other, 'news');
    await deleteMailbox(test.app, other, mailbox.id);
    await test.app.store.write((trx) =>
      senders.update(trx, tenant.organizationId, id, { verified_at: 1 }),
    );
    await expect(take(other, 'news')).rejects.toMatchObject(conflict('mailbox'));
    await expect(take(test.operator, 'news')).rejects.toMatchObject(conflict('mailbox'));
    await expect(take(tenant, 'news')).resolves.toBeDefined();
  });

  it('is refused as a sender while the mailbox of another organization has it', async () => {
    await take(tenant, 'desk');
    const email = 'desk@sandbox.test';
    for (const by of [test.operator, other]) {
      await expect(createSender(test.app, by, { email })).rejects.toMatchObject(conflict('sender'));
    }
    await expect(createSender(test.app, tenant, { email })).resolves.toBeDefined();
  });

  it('goes to a mailbox or to a sender if both are created at once', async () => {
    meetInWrites(test.app.store, 2);
    const both = await Promise.allSettled([
      take(tenant, 'news'),
      createSender(test.app, test.operator, { email: 'news@sandbox.test' }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('is free once its mailbox is deleted', async () => {
    const { id } = await take(tenant, 'desk');
    await expect(take(other, 'desk')).rejects.toMatchObject(conflict('mailbox'));
    await deleteMailbox(test.app, tenant, id);
    const next = await take(other, 'desk');
    expect(await resolveAddressee(test.app, 'desk@sandbox.test')).toMatchObject({
      mailboxId: next.id,
    });
  });

  it('neither sends nor receives while another organization has the domain verified', async () => {
    const { app, operator } = test;
    await take(tenant, 'desk');
    const from = { email: 'desk@sandbox.test' };
    const { db } = app.store;
    const send = () => resolveSender(db, tenant.organizationId, from, findHostedSender);
    await expect(send()).resolves.toMatchObject({ email: from.email });
    const domain = await findSendingDomain(db, operator.organizationId, 'sandbox.test');
    await app.store.write(async (trx) => {
      const row = await domains.get(trx, operator.organizationId, domain?.id ?? '');
      const { id, ...same } = row;
      await domains.update(trx, operator.organizationId, id, {
        status: 'failed',
        verified_at: null,
      });
      const theirs = { ...same, id: app.newId('domain'), organization_id: other.organizationId };
      await domains.insert(trx, theirs, ['organization_id', 'domain']);
    });
    await expect(send()).rejects.toMatchObject({ _tag: 'ForbiddenError' });
    expect(await resolveAddressee(app, 'desk@sandbox.test')).toMatchObject({ code: 550 });
  });
});
