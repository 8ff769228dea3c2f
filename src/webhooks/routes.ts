// The HTTP operations on webhooks (specification 4.9).
import { area } from '../core/api/area.ts';
import { nounRoutes } from '../core/api/noun-routes.ts';
import { pageOf } from '../core/api/pagination.ts';
import { idPath } from '../core/api/resource-schema.ts';
import { ConflictError } from '../platform/errors.ts';
import { getDelivery, listDeliveries, testWebhook } from './deliveries/deliveries.ts';
import { redeliverNow } from './deliveries/redeliver.ts';
import { replayWebhook } from './deliveries/replay.ts';
import { webhookStats } from './deliveries/stats.ts';
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  rotateSecret,
  updateWebhook,
} from './endpoints/webhooks.ts';
import {
  createWebhookInput,
  deliveryOutput,
  deliveryParams,
  deliveryWithAttemptsOutput,
  listDeliveriesQuery,
  listWebhooksQuery,
  redeliveryOutput,
  replayInput,
  replayOutput,
  statsQuery,
  testWebhookInput,
  testWebhookOutput,
  updateWebhookInput,
  webhookNoun,
  webhookOutput,
  webhookStatsOutput,
} from './schema.ts';

const at = area('webhooks', {
  about: 'Endpoints that receive events as signed posts',
  noun: webhookNoun,
});
const path = '/v1/webhooks';
const params = idPath(webhookNoun, 'a webhook');

export const webhookRoutes = {
  ...nounRoutes(at, path, {
    one: 'a webhook',
    many: 'webhooks',
    output: webhookOutput,
    list: {
      description: 'Without those of installations, which `GET /v1/webhooks/{id}` shows.',
      query: listWebhooksQuery,
      run: listWebhooks,
    },
    create: {
      description:
        'Posts are signed by the Standard Webhooks scheme, with `secret`, which is shown ' +
        'only this once. Private addresses are refused unless the configuration allows them.',
      body: createWebhookInput,
      shownOnce: ['secret'],
      throws: [ConflictError],
      run: createWebhook,
    },
    get: { run: getWebhook },
    update: {
      description: 'A disabled webhook gets no events; enabled again, it starts without a backlog.',
      body: updateWebhookInput,
      throws: [ConflictError],
      run: updateWebhook,
    },
    delete: {
      description:
        'Deletes its waiting deliveries, its history and its statistics too. The one of an ' +
        'installation goes with that.',
      throws: [ConflictError],
      run: deleteWebhook,
    },
  }),
  rotateSecret: at.post(`${path}/{id}/rotate-secret`, {
    name: 'rotateWebhookSecret',
    summary: 'Replace the secret of a webhook',
    description:
      'The new secret is in `secret`, only this once. Old and new both sign each post for ' +
      '24 hours.',
    params,
    output: webhookOutput,
    shownOnce: ['secret'],
    throws: [ConflictError],
    run: (app, { caller, params: { id } }) => rotateSecret(app, caller, id),
  }),
  test: at.post(`${path}/{id}/test`, {
    name: 'testWebhook',
    summary: 'Post a test event to a webhook',
    description:
      'Publishes a `webhook.test` event with your `data`, which is delivered and retried ' +
      'like any other.',
    status: 201,
    params,
    body: testWebhookInput,
    bodyOptional: true,
    output: testWebhookOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => testWebhook(app, caller, id, body ?? {}),
  }),
  stats: at.get(`${path}/{id}/stats`, {
    name: 'getWebhookStats',
    summary: 'Count the deliveries of a webhook by day',
    params,
    query: statsQuery,
    output: webhookStatsOutput,
    run: (app, { caller, params: { id }, query: { period } }) =>
      webhookStats(app, caller, id, period),
  }),
  deliveries: at.get(`${path}/{id}/deliveries`, {
    name: 'listWebhookDeliveries',
    summary: 'List the deliveries of a webhook, newest first',
    params,
    query: listDeliveriesQuery,
    output: pageOf(deliveryOutput),
    run: (app, { caller, params: { id }, query }) => listDeliveries(app, caller, id, query),
  }),
  delivery: at.get(`${path}/{id}/deliveries/{deliveryId}`, {
    name: 'getWebhookDelivery',
    summary: 'Show a delivery of a webhook with its attempts',
    params: deliveryParams,
    output: deliveryWithAttemptsOutput,
    run: (app, { caller, params: { id, deliveryId } }) => getDelivery(app, caller, id, deliveryId),
  }),
  redeliver: at.post(`${path}/{id}/deliveries/{deliveryId}/redeliver`, {
    name: 'redeliverWebhook',
    summary: 'Retry a delivery of a webhook now',
    description: 'Waits for the answer. The automatic attempts stay as planned.',
    params: deliveryParams,
    output: redeliveryOutput,
    run: (app, { caller, params: { id, deliveryId } }) => redeliverNow(app, caller, id, deliveryId),
  }),
  replay: at.post(`${path}/{id}/replay`, {
    name: 'replayWebhook',
    summary: 'Post logged events again',
    description:
      'Creates new deliveries of past events, under their old `webhook-id`, behind new ' +
      'events. The oldest 10,000 at most, less the pending ones; one replay at a time.',
    params,
    body: replayInput,
    bodyOptional: true,
    output: replayOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => replayWebhook(app, caller, id, body ?? {}),
  }),
};
