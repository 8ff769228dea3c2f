// The HTTP operations on the warming of a domain (specification 4.7).
import { area } from '../../core/api/area.ts';
import { ConflictError } from '../../platform/errors.ts';
import { domainPath as params } from '../domains/schema.ts';
import { decideInput, resumeWarmingInput, startWarmingInput, warmingOutput } from './schema.ts';
import { cancelWarming, getWarming, pauseWarming, resumeWarming, startWarming } from './warming.ts';

const at = area('warming', {
  about: 'Warming: the volume of a new domain grows day by day',
  resource: 'domains',
});
const path = '/v1/email/domains/{id}/warming';

export const warmingRoutes = {
  start: at.post(path, {
    name: 'startWarming',
    summary: 'Start warming a domain',
    description:
      'The first window of 24 hours opens at once. After each safe window the next one ' +
      'opens, with an allowance that is `dailyGrowthPercent` larger, up to the target. ' +
      'Direct sends count in the window; with `direct: defer` those above its allowance wait ' +
      'in the queue (`waitReason: rate`) until the next one opens, at most until their age limit.',
    params,
    body: startWarmingInput,
    output: warmingOutput,
    status: 201,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => startWarming(app, caller, id, body),
  }),
  get: at.get(path, {
    name: 'getWarming',
    summary: 'Show the warming plan of a domain, its windows and results',
    description: 'If the domain had several plans, shows the current one, or else the newest.',
    params,
    output: warmingOutput,
    run: (app, { caller, params: { id } }) => getWarming(app, caller, id),
  }),
  pause: at.post(`${path}/pause`, {
    name: 'pauseWarming',
    summary: 'Pause the warming of a domain',
    description: 'The open window runs to its end; no other opens until the plan is resumed.',
    params,
    body: decideInput,
    bodyOptional: true,
    output: warmingOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => pauseWarming(app, caller, id, body),
  }),
  resume: at.post(`${path}/resume`, {
    name: 'resumeWarming',
    summary: 'Resume the paused or held warming of a domain',
    description:
      'A held plan repeats the unsafe window: earlier bounces and complaints no longer ' +
      'count. That needs a `note`.',
    params,
    body: resumeWarmingInput,
    bodyOptional: true,
    output: warmingOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => resumeWarming(app, caller, id, body),
  }),
  cancel: at.post(`${path}/cancel`, {
    name: 'cancelWarming',
    summary: 'Cancel the warming of a domain',
    description: 'The plan and its windows end for good; another plan can be started.',
    params,
    body: decideInput,
    bodyOptional: true,
    output: warmingOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => cancelWarming(app, caller, id, body),
  }),
};
