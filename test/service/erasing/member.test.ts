// Only the id of an erased member is left: every column of every table is searched for the name
// and the address, which are one mark.
import { describe, expect, it } from 'vitest';
import { routes } from '../../../daemon/http/routes.ts';
import { requestErasureOfMember } from '../../../src/access/members/erase.ts';
import { deleteMember, updateMember } from '../../../src/access/members/members.ts';
import { renameSelf } from '../../../src/access/members/own-name.ts';
import { campaignRunStarted } from '../../../src/campaigns/setup/events.ts';
import { presentRun } from '../../../src/campaigns/setup/present.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import { listAudit } from '../../../src/history/audit/audit.ts';
import { eventToRecord, record } from '../../../src/history/events/record.ts';
import type { ReplyResult } from '../../../src/inbox/replies/schema.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { ask } from '../../../src/service/door/door.ts';
import { eraseDue } from '../../../src/service/erasing/eraser.ts';
import { join, memberOf, personOf, present } from '../../access/members/people.ts';
import { storedRun } from '../../campaigns/campaigns/fixtures.ts';
import { templateBody } from '../../content/templates/fixtures.ts';
import { makeInstallation } from '../../extensions/fixtures.ts';
import { apiOf, config as deskConfig, deskOf } from '../../inbox/replies/world.ts';
import { bothStores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { loopbackConfig } from '../../webhooks/engine.ts';
import { eraseAll, withJobs } from './marked.ts';
import { mark, tracesInTables } from './traces.ts';

describe.each(bothStores)('the erasure of a member on %s', (store) => {
  const world = eachApi({ store, config: { ...loopbackConfig, ...deskConfig } });
  const { test } = world;

  /** Asks a route of the API as the member. */
  async function askAs<Answer>(member: Caller, name: string, input: object): Promise<Answer> {
    const route = routes.find((each) => each.name === name);
    if (!route) throw new Error(`no route has the name ${name}`);
    return (await ask({ app: test.app }, member, route, input)) as Answer;
  }

  /** Lets a member write in each way that keeps the name of the author. */
  async function everyAct(member: Caller): Promise<void> {
    const { app } = test;
    const as = <Answer>(name: string, params: object, body?: object) =>
      askAs<Answer>(member, name, { params, body });
    await as('createApiKey', {}, { name: 'ci', role: 'sender' });
    const mail = { channel: 'email', to: [{ email: 'x@example.com' }] };
    await as<Message>('sendMessage', {}, { ...mail, email: { subject: 'Hello', text: 'Hello' } });
    const template = await as<{ id: string }>('createTemplate', {}, templateBody('mine'));
    await as('publishTemplate', { id: template.id }, {});
    await makeInstallation(app, member, { permissions: ['messages:read'] });
    const desk = await deskOf(world);
    const at = { id: desk.id };
    const messageId = await desk.arrive({ from: 'Guest <guest@example.com>' });
    const constraints = { mailboxIds: [desk.id] };
    const agent = await apiOf(world, { name: 'agent', constraints, sendMode: 'approval' });
    const propose = async () => (await desk.reply(messageId, { text: 'Hi' }, agent)).body.actionId;
    await as('approveMailboxAction', { ...at, actionId: await propose() }, {});
    await as('rejectMailboxAction', { ...at, actionId: await propose() }, { note: 'No' });
    const reply = { ...at, messageId };
    const { threadId } = await as<ReplyResult>('replyToMessage', reply, { text: 'Thank you' });
    await as('createThreadNote', { ...at, threadId }, { body: 'Mine' });
    const draft = await as<{ id: string }>('createDraft', at, {
      text: 'Soon',
      to: ['x@y.example'],
    });
    await as('updateDraft', { ...at, draftId: draft.id }, { text: 'Later' });
    const columns = { created_by: memberOf(member), actor_email: `${mark}@people.example` };
    const run = await storedRun(app, member, 'completed', columns);
    await app.store.write(async (trx) => {
      const event = eventToRecord(campaignRunStarted, await presentRun(trx, run));
      await record(app, trx, member, { subject: run.id, event });
    });
  }

  it('leaves no name and no address', async () => {
    const { app, operator } = test;
    const joined = await join(app, operator, `${mark}@people.example`, 'owner');
    const id = memberOf(joined);
    await renameSelf(app, joined, 'Zqxvmark Person');
    const member = await present(app, personOf(joined), operator.organizationId);
    await withJobs(world, () => everyAct(member));
    expect(await tracesInTables(app)).toEqual(
      expect.arrayContaining([
        ...['audit_entries.details', 'audit_entries.member_email', 'audit_entries.member_name'],
        ...['campaign_runs.actor_email', 'drafts.author_name', 'drafts.editor_name'],
        ...['extension_installations.created_by', 'mailbox_actions.actor_name'],
        ...['mailbox_actions.decided_by', 'messages.origin', 'resource_events.data'],
        ...['thread_notes.author_name', 'webhook_attempts.response', 'webhook_bodies.body'],
      ]),
    );
    await updateMember(app, operator, id, { name: `${mark} 2`, role: 'admin' });
    await expect(requestErasureOfMember(app, operator, id)).rejects.toThrow(/svc members delete/);
    await deleteMember(app, operator, id);
    await requestErasureOfMember(app, operator, id);
    await eraseDue(app);
    expect(await tracesInTables(app)).toEqual([]);
    await eraseAll(world);
    expect(await tracesInTables(app)).toEqual([]);
    const { items } = await listAudit(app, operator, { resource: id, limit: 1 });
    expect(items[0]).toMatchObject({ action: 'member.erased', actor: { type: 'operator' } });
  });

  it('of an unknown id answers 404', async () => {
    const unknown = requestErasureOfMember(test.app, test.operator, 'mem_00000000000000000000');
    await expect(unknown).rejects.toMatchObject({ status: 404 });
  });
});
