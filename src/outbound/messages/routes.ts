// The message operations of specification 4.1, except sending (src/outbound/sending/routes.ts).
import { z } from 'zod';
import { area } from '../../core/api/area.ts';
import { pageOf } from '../../core/api/pagination.ts';
import { deleted } from '../../core/api/resource-schema.ts';
import { emailProjection, emailQuery } from './email-schema.ts';
import { expectInRequest } from './expecting/expect.ts';
import { readMessageExtracts } from './expecting/extracts.ts';
import { expectedMessage, expectQuery, extractsOutput } from './expecting/schema.ts';
import { getEmailProjection } from './lists/email-projection.ts';
import { listMessagesQuery } from './lists/list-schema.ts';
import {
  deleteMessage,
  getMessage,
  listMessageDeliveries,
  listMessageEvents,
  listMessages,
} from './messages.ts';
import { delivery, message, messageEvent, messagePath as params } from './schema.ts';

const at = area('messages', {
  about: 'Sending messages and following them: statuses, deliveries, timelines',
});
const path = '/v1/messages';

export const messageRoutes = {
  list: at.get(path, {
    name: 'listMessages',
    summary: 'List messages, newest first',
    query: listMessagesQuery,
    output: pageOf(message),
    run: (app, { caller, query }) => listMessages(app, caller, query),
  }),
  expect: at.get(`${path}/expect`, {
    name: 'expectMessage',
    summary: 'Wait for a mail to an address, and get it with text, codes and links',
    description:
      'Answers with the newest sent, captured or received message that matches, once there is ' +
      'one. Answers 404 if none comes in time: ask again. The pattern is matched anywhere in ' +
      'the subject (RE2, which has no lookaround and no backreferences).',
    query: expectQuery,
    waits: true,
    output: expectedMessage,
    run: (app, { caller, query, signal }) => expectInRequest(app, caller, query, signal),
  }),
  get: at.get(`${path}/{id}`, {
    name: 'getMessage',
    summary: 'Get a message with its recipients and deliveries',
    params,
    output: message,
    run: (app, { caller, params: { id } }) => getMessage(app, caller, id),
  }),
  delete: at.delete(`${path}/{id}`, {
    name: 'deleteMessage',
    summary: 'Delete a message for good; its unsent deliveries are cancelled',
    params,
    output: deleted,
    run: (app, { caller, params: { id } }) => deleteMessage(app, caller, id),
  }),
  email: at.get(`${path}/{id}/email`, {
    name: 'getMessageEmail',
    summary: 'Get the email projection of a message',
    params,
    query: emailQuery,
    output: emailProjection,
    run: (app, { caller, params: { id }, query }) => getEmailProjection(app, caller, id, query),
  }),
  extracts: at.get(`${path}/{id}/extracts`, {
    name: 'getMessageExtracts',
    summary: 'Find the one-time codes and the links of a message',
    description:
      'At most 10 codes of 4 to 8 digits, and at most 100 links, of the HTML if it has any, ' +
      'else of the text.',
    params,
    output: extractsOutput,
    run: (app, { caller, params: { id } }) => readMessageExtracts(app, caller, id),
  }),
  events: at.get(`${path}/{id}/events`, {
    name: 'listMessageEvents',
    summary: 'Get the timeline of a message, oldest first',
    params,
    output: z.array(messageEvent),
    run: (app, { caller, params: { id } }) => listMessageEvents(app, caller, id),
  }),
  deliveries: at.get(`${path}/{id}/deliveries`, {
    name: 'listMessageDeliveries',
    summary: 'Get the delivery status of each recipient',
    params,
    output: z.array(delivery),
    run: (app, { caller, params: { id } }) => listMessageDeliveries(app, caller, id),
  }),
};
