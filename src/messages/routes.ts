// The message operations of specification 4.1, except sending (src/sending/routes.ts).
import { z } from 'zod';
import { pageOf } from '../api/pagination.ts';
import { type Route, route } from '../api/route.ts';
import { getEmailProjection } from './email-projection.ts';
import {
  deleteMessage,
  getMessage,
  listMessageDeliveries,
  listMessageEvents,
  listMessages,
} from './messages.ts';
import {
  delivery,
  emailProjection,
  emailQuery,
  listMessagesQuery,
  message,
  messageEvent,
  messageId,
} from './schema.ts';

const area = 'messages';
const params = z.strictObject({ id: messageId });

export const messageRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/messages',
    name: 'listMessages',
    summary: 'List messages, newest first',
    area,
    permission: 'messages:read',
    query: listMessagesQuery,
    status: 200,
    output: pageOf(message),
    run: (app, { caller, query }) => listMessages(app, caller, query),
  }),
  route({
    method: 'GET',
    path: '/v1/messages/{id}',
    name: 'getMessage',
    summary: 'Get a message with its recipients and deliveries',
    area,
    permission: 'messages:read',
    params,
    status: 200,
    output: message,
    run: (app, { caller, params: { id } }) => getMessage(app, caller, id),
  }),
  route({
    method: 'DELETE',
    path: '/v1/messages/{id}',
    name: 'deleteMessage',
    summary: 'Delete a message for good; its unsent deliveries are cancelled',
    area,
    permission: 'messages:delete',
    params,
    status: 200,
    output: z.object({ success: z.boolean(), message: z.string() }),
    run: (app, { caller, params: { id } }) => deleteMessage(app, caller, id),
  }),
  route({
    method: 'GET',
    path: '/v1/messages/{id}/email',
    name: 'getMessageEmail',
    summary: 'Get the email projection of a message',
    area,
    permission: 'messages:read',
    params,
    query: emailQuery,
    status: 200,
    output: emailProjection,
    run: (app, { caller, params: { id }, query }) => getEmailProjection(app, caller, id, query),
  }),
  route({
    method: 'GET',
    path: '/v1/messages/{id}/events',
    name: 'listMessageEvents',
    summary: 'Get the timeline of a message, oldest first',
    area,
    permission: 'messages:read',
    params,
    status: 200,
    output: z.array(messageEvent),
    run: (app, { caller, params: { id } }) => listMessageEvents(app, caller, id),
  }),
  route({
    method: 'GET',
    path: '/v1/messages/{id}/deliveries',
    name: 'listMessageDeliveries',
    summary: 'Get the delivery status of each recipient',
    area,
    permission: 'messages:read',
    params,
    status: 200,
    output: z.array(delivery),
    run: (app, { caller, params: { id } }) => listMessageDeliveries(app, caller, id),
  }),
];
