// The HTTP operations on campaigns and their runs (specification 4.8).
import { z } from 'zod';
import { area } from '../../core/api/area.ts';
import { nounRoutes } from '../../core/api/noun-routes.ts';
import { idPath } from '../../core/api/resource-schema.ts';
import { internalRoute } from '../../core/api/route.ts';
import { batchResult } from '../../outbound/messages/schema.ts';
import { ConflictError } from '../../platform/errors.ts';
import {
  createCampaign,
  deleteCampaign,
  duplicateCampaign,
  getCampaign,
  listCampaigns,
  updateCampaign,
} from './campaigns.ts';
import { estimateAudience, estimateCampaign } from './estimate.ts';
import { renderCampaign, testCampaign } from './previews.ts';
import { listRecipients } from './recipients.ts';
import { seeResults } from './results.ts';
import {
  createRunInput,
  decideRunInput,
  estimateAudienceInput,
  estimateOutput,
  estimateQuery,
  listRecipientsQuery,
  listRunsQuery,
  recipientPage,
  resumeRunInput,
  retryRunInput,
  runOutput,
  runPage,
  runPath,
} from './run-schema.ts';
import {
  cancelRun,
  createRun,
  findRun,
  getRun,
  listRuns,
  pauseRun,
  resumeRun,
  retryRun,
} from './runs.ts';
import {
  campaignNoun,
  campaignOutput,
  createCampaignInput,
  duplicateCampaignInput,
  listCampaignsQuery,
  previewOutput,
  renderCampaignInput,
  runNoun,
  testCampaignInput,
  updateCampaignInput,
} from './schema.ts';

const at = area('campaigns', {
  about: 'Mail to many contacts, and its runs',
  noun: campaignNoun,
});
const atRuns = area('campaigns', { noun: runNoun });
const path = '/v1/campaigns';
const params = idPath(campaignNoun, 'a campaign');

export const campaignRoutes = {
  ...nounRoutes(at, path, {
    one: 'a campaign',
    many: 'campaigns',
    output: campaignOutput,
    list: { query: listCampaignsQuery, run: listCampaigns },
    create: {
      description:
        'Nothing is sent before a run. The content is checked as that of a send; `warnings` has ' +
        'what a run would be refused for.',
      body: createCampaignInput,
      throws: [ConflictError],
      run: createCampaign,
    },
    get: { run: getCampaign },
    update: {
      description: 'A run keeps the content and the audience that it began with.',
      body: updateCampaignInput,
      throws: [ConflictError],
      run: updateCampaign,
    },
    delete: {
      summary: 'Delete a campaign with its runs; messages stay',
      description: '409 while a run is scheduled, running, paused or held.',
      throws: [ConflictError],
      run: deleteCampaign,
    },
  }),
  duplicate: at.post(`${path}/{id}/duplicate`, {
    name: 'duplicateCampaign',
    summary: 'Copy a campaign without its runs',
    status: 201,
    params,
    body: duplicateCampaignInput,
    bodyOptional: true,
    output: campaignOutput,
    run: (app, { caller, params: { id }, body }) => duplicateCampaign(app, caller, id, body),
  }),
  estimate: at.get(`${path}/{id}/estimate`, {
    name: 'estimateCampaign',
    summary: 'Count the contacts of a campaign by fate, and the time of a run',
    description:
      'At the pace of plan, daily quota and warming. Mail that others send meanwhile is not known.',
    params,
    query: estimateQuery,
    output: estimateOutput,
    run: (app, { caller, params: { id }, query }) => estimateCampaign(app, caller, id, query),
  }),
  render: at.post(`${path}/{id}/render`, {
    name: 'renderCampaign',
    summary: 'Show the mail of a campaign as a contact would get it',
    description:
      'Leaves out links of the recipient, such as the link to unsubscribe. Stores nothing.',
    permission: 'campaigns:read',
    params,
    body: renderCampaignInput,
    output: previewOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => renderCampaign(app, caller, id, body),
  }),
  test: at.post(`${path}/{id}/test`, {
    name: 'testCampaign',
    summary: 'Send the mail of a campaign to a few addresses',
    description:
      'The subject begins with `[Test]`. The mails are ordinary messages: they draw on rate and ' +
      'quota, and are in no run. One result for each address, in order.',
    permission: 'campaigns:run',
    drawsOnSendRate: 'batch',
    params,
    body: testCampaignInput,
    output: z.array(batchResult),
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => testCampaign(app, caller, id, body),
  }),
};

const runsPath = `${path}/{id}/runs` as const;
const onePath = `${runsPath}/{runId}` as const;

export const campaignRunRoutes = {
  create: atRuns.post(runsPath, {
    name: 'createCampaignRun',
    summary: 'Send a campaign to its audience, now or later',
    description:
      'The run is `scheduled` until its time, and then `running`. When it starts it takes ' +
      'snapshots of content and audience: later changes do not reach it. Each contact gets one ' +
      'message at most. A repeat with the same `idempotencyKey` returns the original run.',
    permission: 'campaigns:run',
    status: 201,
    params,
    body: createRunInput,
    bodyOptional: true,
    output: runOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => createRun(app, caller, id, body),
  }),
  list: atRuns.get(runsPath, {
    name: 'listCampaignRuns',
    summary: 'List the runs of a campaign, newest first',
    params,
    query: listRunsQuery,
    output: runPage,
    run: (app, { caller, params: { id }, query }) => listRuns(app, caller, id, query),
  }),
  get: atRuns.get(onePath, {
    name: 'getCampaignRun',
    summary: 'Show a run with its counts and its snapshots',
    params: runPath,
    output: runOutput,
    run: (app, { caller, params: { id, runId } }) => getRun(app, caller, { campaignId: id, runId }),
  }),
  pause: atRuns.post(`${onePath}/pause`, {
    name: 'pauseCampaignRun',
    summary: 'Pause a running run, or the queued mail of a completed run',
    description:
      'Queued mail waits too (`waitReason: campaign-paused`). A completed run without queued ' +
      'mail gets a 409.',
    permission: 'campaigns:run',
    params: runPath,
    body: decideRunInput,
    bodyOptional: true,
    output: runOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id, runId }, body }) =>
      pauseRun(app, caller, { campaignId: id, runId }, body),
  }),
  resume: atRuns.post(`${onePath}/resume`, {
    name: 'resumeCampaignRun',
    summary: 'Resume a paused or held run',
    description:
      'A held run needs a `note`. One that had not started is `scheduled` again, and one that was ' +
      'completed is `completed` again.',
    permission: 'campaigns:run',
    params: runPath,
    body: resumeRunInput,
    bodyOptional: true,
    output: runOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id, runId }, body }) =>
      resumeRun(app, caller, { campaignId: id, runId }, body),
  }),
  cancel: atRuns.post(`${onePath}/cancel`, {
    name: 'cancelCampaignRun',
    summary: 'End a run for good',
    description:
      'Cancels all mail that has not left. A completed run can be cancelled while mail of the run ' +
      'is queued; the counts of the run stay.',
    permission: 'campaigns:run',
    params: runPath,
    body: decideRunInput,
    bodyOptional: true,
    output: runOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id, runId }, body }) =>
      cancelRun(app, caller, { campaignId: id, runId }, body),
  }),
  retry: atRuns.post(`${onePath}/retry`, {
    name: 'retryCampaignRun',
    summary: 'Make a run to the contacts that failed in an ended run',
    description:
      'Those for whom no message could be made, and those whose message failed; never bounced ' +
      'or complained ones, nor those of another retry of the run. It has the content of the ' +
      'campaign as it is now.',
    permission: 'campaigns:run',
    status: 201,
    params: runPath,
    body: retryRunInput,
    bodyOptional: true,
    output: runOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id, runId }, body }) =>
      retryRun(app, caller, { campaignId: id, runId }, body),
  }),
  recipients: atRuns.get(`${onePath}/recipients`, {
    name: 'listCampaignRunRecipients',
    summary: 'List the contacts that a run has checked, by contact id',
    params: runPath,
    query: listRecipientsQuery,
    output: recipientPage,
    run: (app, { caller, params: { id, runId }, query }) =>
      listRecipients(app, caller, { campaignId: id, runId }, query),
  }),
};

/** Audiences for the editor of the console. */
export const audienceRoutes = {
  /** Estimates an audience while a person chooses it. */
  estimate: internalRoute({
    name: 'campaigns/estimate',
    permission: 'campaigns:write',
    body: estimateAudienceInput,
    run: (app, { caller, body }) => estimateAudience(app, caller, body),
  }),
};

/** Runs for pages of the console. */
export const campaignRunDesk = {
  /** Returns the results of a run by receiver and by link. */
  results: internalRoute({
    name: 'campaign-runs/results',
    permission: 'campaigns:read',
    query: runPath,
    run: (app, { caller, query: { id, runId } }) =>
      seeResults(app, caller, { campaignId: id, runId }),
  }),
  /** Finds a run for the page of a message, which has the id of the run alone. */
  find: internalRoute({
    name: 'campaign-runs/find',
    permission: 'campaigns:read',
    query: runPath.pick({ runId: true }),
    run: (app, { caller, query: { runId } }) => findRun(app, caller, runId),
  }),
};
