// Resources with a mark in every text field, and the records that depend on them.

import { expireActions } from '../../../src/inbox/approvals/actions.ts';
import type { Draft } from '../../../src/inbox/replies/schema.ts';
import { indexWaiting } from '../../../src/inbox/threads/indexer.ts';
import { createSearchFiller } from '../../../src/outbound/messages/lists/search.ts';
import { sweepIdempotencyKeys } from '../../../src/outbound/sending/send.ts';
import { eraseDue } from '../../../src/service/erasing/eraser.ts';
import { createWebhookLoop } from '../../../src/webhooks/posting/loop.ts';
import { apiOf, type Desk, deskOf } from '../../inbox/replies/world.ts';
import { startPipeline } from '../../support/delivery.ts';
import type { Answer, HttpApi } from '../../support/http-client.ts';
import type { TestApp } from '../../support/test-app.ts';
import { makeEndpoint, receiver } from '../../webhooks/engine.ts';
import { mark } from './traces.ts';

export interface World {
  test: TestApp;
  api: HttpApi;
}

interface Made {
  id: string;
  actionId: string;
  threadId: string;
}

const address = `${mark}@example.com`;
const html = `<html><body><p>${mark}</p><a href="https://example.com/${mark}">x</a></body></html>`;
const content = Buffer.from(mark).toString('base64');
const attachments = [{ filename: `${mark}.txt`, content }];
const quiet = { isPressing: () => false, isWorking: () => false };

/** Returns the body of an answer. @throws Error for a refusal. */
async function bodyOf<Body = Made>(answer: Promise<Answer<Body>>): Promise<Body> {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}

/** Runs `work`, then posts to an echoing receiver, sends and indexes until all is quiet. */
export async function withJobs({ test }: World, work: () => Promise<void>): Promise<void> {
  const { app } = test;
  const echo = await receiver();
  echo.answer = (_request, response) => response.end(echo.received.at(-1)?.body);
  await makeEndpoint(test, echo.url);
  await work();
  const pipeline = await startPipeline(app);
  await pipeline.idle();
  await pipeline.close();
  await indexWaiting(app);
  await createSearchFiller(app, quiet).fill();
  const loop = createWebhookLoop(app);
  await loop.start();
  await loop.idle();
  await loop.stop(0);
  await echo.close();
}

/** Erases deleted resources like a daemon; an open proposal ends first. */
export async function eraseAll({ test: { app, clock } }: World): Promise<void> {
  await eraseDue(app);
  await clock.advance(7 * 86_400_000);
  await expireActions(app);
  await eraseDue(app);
  await clock.advance(121_000);
  await eraseDue(app);
  await clock.advance(3_600_000);
  await eraseDue(app);
  await clock.advance(49 * 3_600_000);
  await sweepIdempotencyKeys(app);
}

export async function markedMessage({ api }: World): Promise<string> {
  const headers = { 'X-Own': mark };
  const tracking = { opens: true, clicks: true };
  const body = {
    channel: 'email',
    to: [{ email: address, name: mark }],
    email: { subject: mark, text: mark, html, attachments, headers, tracking },
    tags: [mark],
    metadata: { own: mark },
  };
  return (
    await bodyOf(api.post<Made>('/v1/messages', body, { headers: { 'idempotency-key': mark } }))
  ).id;
}

/** Returns the API for a program that proposes in a mailbox, and for the deciding person. */
async function keysOf(world: World, mailboxId: string) {
  const constraints = { mailboxIds: [mailboxId] };
  const agent = await apiOf(world, { name: 'agent', constraints, sendMode: 'approval' });
  return { agent, person: await apiOf(world, { name: 'Ada', owner: 'person' }) };
}

/** Creates a desk with a message, and the additions of a thread, a key and a person. */
export async function markedThread(world: World): Promise<{ desk: Desk; messageId: string }> {
  const { api } = world;
  const desk = await deskOf(world);
  const messageId = await desk.arrive({ from: `${mark} <${address}>`, subject: mark, text: mark });
  const { agent, person } = await keysOf(world, desk.id);
  const rejected = await bodyOf(desk.reply(messageId, { text: mark, html, attachments }, agent));
  await bodyOf(person.post(`${desk.path}/actions/${rejected.actionId}/reject`, { note: mark }));
  const { threadId } = await bodyOf(desk.reply(messageId, { text: mark, attachments }, agent));
  const draft = { inReplyToMessageId: messageId, text: mark, html, attachments };
  await bodyOf(api.post<Draft>(`${desk.path}/drafts`, draft));
  const thread = `${desk.path}/threads/${threadId}`;
  await bodyOf(api.post(`${thread}/labels`, { labels: [mark] }));
  await bodyOf(agent.post(`${thread}/notes`, { body: mark }));
  return { desk, messageId };
}

/** Sends a reply that a person approved with changes; returns the id of its message. */
export async function markedReply(world: World, desk: Desk, messageId: string): Promise<string> {
  const { agent, person } = await keysOf(world, desk.id);
  const proposed = await bodyOf(
    desk.reply(messageId, { text: 'Hello', attachments }, agent, 'reply', mark),
  );
  const edits = { text: mark, subject: `Re: ${mark}` };
  const path = `${desk.path}/actions/${proposed.actionId}/approve`;
  const { messageId: sent } = await bodyOf(
    person.post<{ messageId: string }>(path, { edits, note: mark }),
  );
  return sent;
}

/** Creates a mailbox with the mark in its own fields, mail, drafts and proposals. */
export async function markedMailbox(world: World): Promise<string> {
  const { api } = world;
  const { id } = await bodyOf(
    api.post<Made>('/v1/mailboxes', {
      ...{ slug: mark, displayName: mark, description: mark, metadata: { own: mark } },
      filters: { allow: [], block: [address] },
    }),
  );
  const path = `/v1/mailboxes/${id}`;
  await bodyOf(api.request('PATCH', path, { body: { description: `${mark} again` } }));
  const { agent } = await keysOf(world, id);
  const mail = { to: [address], subject: mark, text: mark, attachments };
  await bodyOf(agent.post(`${path}/messages`, mail));
  await bodyOf(api.post(`${path}/messages`, mail));
  await bodyOf(api.post(`${path}/drafts`, mail));
  return id;
}

export async function markedContact({ api }: World): Promise<string> {
  const { id } = await bodyOf(
    api.post<Made>('/v1/contacts', {
      ...{ email: address, name: mark, displayName: mark, externalId: mark },
      ...{ tags: [mark], metadata: { own: mark } },
      profile: { firstName: mark, company: mark, customFields: { own: mark } },
    }),
  );
  const body = { name: `${mark} again`, metadata: { own: `${mark} again` } };
  await bodyOf(api.request('PATCH', `/v1/contacts/${id}`, { body }));
  const group = await bodyOf(api.post<Made>('/v1/contact-groups', { name: 'all' }));
  await bodyOf(api.post(`/v1/contact-groups/${group.id}/members`, { contactIds: [id] }));
  return id;
}

export async function markedConversation({ api }: World): Promise<string> {
  const fields = { title: mark, description: mark, externalId: mark, tags: [mark] };
  const { id } = await bodyOf(
    api.post<Made>('/v1/conversations', { ...fields, metadata: { own: mark } }),
  );
  await bodyOf(api.request('PATCH', `/v1/conversations/${id}`, { body: { title: `${mark} 2` } }));
  const resolved = { statusReason: mark, resolutionNotes: mark };
  await bodyOf(api.post(`/v1/conversations/${id}/resolve`, resolved));
  return id;
}
