// The HTTP operations on conversations (specification 4.5); deletion is in
// src/outbound/messages/forget/contact-routes.ts.
import type { z } from 'zod';
import { area } from '../../core/api/area.ts';
import { pageOf } from '../../core/api/pagination.ts';
import { ConflictError } from '../../platform/errors.ts';
import {
  addTags,
  createConversation,
  getConversation,
  listConversations,
  moveConversation,
  removeTags,
  updateConversation,
} from './conversations.ts';
import {
  conversationNoun,
  createConversationInput,
  listConversationsQuery,
  type Move,
  moveInput,
  conversationOutput as output,
  conversationPath as params,
  resolveInput,
  tagsInput,
  updateConversationInput,
} from './schema.ts';
import type { MoveName } from './states.ts';

const at = area('conversations', {
  about: 'Messages that belong together, and their status',
  noun: conversationNoun,
});
const path = '/v1/conversations';
const throws = [ConflictError];

/** Builds a route that changes the state of a conversation. `move` ends the path. */
function moving<Input extends Move>(
  move: MoveName,
  body: z.ZodType<Input>,
  words: { summary: string; description?: string },
) {
  return at.post(`${path}/{id}/${move}`, {
    name: `${move}Conversation`,
    ...words,
    params,
    body,
    bodyOptional: true,
    output,
    throws,
    run: (app, { caller, params: { id }, body: given }) =>
      moveConversation(app, caller, id, move, given),
  });
}

export const conversationRoutes = {
  list: at.get(path, {
    name: 'listConversations',
    summary: 'List conversations, newest first',
    query: listConversationsQuery,
    output: pageOf(output),
    run: (app, { caller, query }) => listConversations(app, caller, query),
  }),
  create: at.post(path, {
    name: 'createConversation',
    summary: 'Create a conversation',
    description:
      'A new conversation is `active`. A send with its id as `conversationId` belongs to ' +
      'it, and so does an incoming answer to such a message. The external id of another ' +
      'conversation gets a 409 that names it.',
    body: createConversationInput,
    output,
    throws,
    run: (app, { caller, body }) => createConversation(app, caller, body),
  }),
  get: at.get(`${path}/{id}`, {
    name: 'getConversation',
    summary: 'Show a conversation',
    params,
    output,
    run: (app, { caller, params: { id } }) => getConversation(app, caller, id),
  }),
  update: at.patch(`${path}/{id}`, {
    name: 'updateConversation',
    summary: 'Change a conversation',
    description: 'Each given field is replaced whole.',
    params,
    body: updateConversationInput,
    output,
    throws,
    run: (app, { caller, params: { id }, body }) => updateConversation(app, caller, id, body),
  }),
  tag: at.post(`${path}/{id}/tags`, {
    name: 'addConversationTags',
    summary: 'Add tags to a conversation',
    params,
    body: tagsInput,
    output,
    run: (app, { caller, params: { id }, body }) => addTags(app, caller, id, body.tags),
  }),
  untag: at.delete(`${path}/{id}/tags`, {
    name: 'removeConversationTags',
    summary: 'Remove tags from a conversation; missing ones are ignored',
    permission: 'conversations:write',
    params,
    body: tagsInput,
    output,
    run: (app, { caller, params: { id }, body }) => removeTags(app, caller, id, body.tags),
  }),
  resolve: moving('resolve', resolveInput, {
    summary: 'Resolve an active or waiting conversation',
    description: 'The next incoming message makes it active again.',
  }),
  archive: moving('archive', moveInput, {
    summary: 'Archive a conversation',
    description: 'Later messages are still counted in it, and leave it archived.',
  }),
  reopen: moving('reopen', moveInput, {
    summary: 'Reopen a resolved or archived conversation',
  }),
};
