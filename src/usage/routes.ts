// The HTTP operations on usage and analytics (specification 4.8; contract 13).
import { type Route, route } from '../api/route.ts';
import {
  channelStatsOutput,
  channelStatsQuery,
  domainStatsOutput,
  domainStatsQuery,
  timeseriesOutput,
  timeseriesQuery,
  usageOutput,
  usageQuery,
} from './schema.ts';
import { channelStats, domainStats, getUsage, timeseries } from './stats.ts';

const area = 'analytics';

export const usageRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/organizations/usage',
    name: 'getUsage',
    summary: 'Show what was sent in a month, and what it costs',
    area: 'usage',
    permission: 'organization:read',
    query: usageQuery,
    status: 200,
    output: usageOutput,
    run: (app, { caller, query }) => getUsage(app, caller, query),
  }),
  route({
    method: 'GET',
    path: '/v1/analytics/channel-stats',
    name: 'getChannelStats',
    summary: 'Show what became of the messages of a range',
    description:
      '`sent` counts the messages accepted in the range. Rates are over what was attempted, each ' +
      'recipient by itself, so that what still waits neither helps nor hurts.',
    area,
    permission: 'analytics:read',
    query: channelStatsQuery,
    status: 200,
    output: channelStatsOutput,
    run: (app, { caller, query }) => channelStats(app, caller, query),
  }),
  route({
    method: 'GET',
    path: '/v1/analytics/timeseries',
    name: 'getTimeseries',
    summary: 'Show the mail of a range by day or hour',
    area,
    permission: 'analytics:read',
    query: timeseriesQuery,
    status: 200,
    output: timeseriesOutput,
    run: (app, { caller, query }) => timeseries(app, caller, query),
  }),
  route({
    method: 'GET',
    path: '/v1/analytics/domains',
    name: 'getDomainStats',
    summary: 'Show the mail of a range by recipient domain',
    area,
    permission: 'analytics:read',
    query: domainStatsQuery,
    status: 200,
    output: domainStatsOutput,
    run: (app, { caller, query }) => domainStats(app, caller, query),
  }),
];
