// The organization, and what was changed in it by whom.
import { html, together } from '../html.ts';
import type { Page } from '../page.ts';
import { facts, type List, table, time } from '../parts.ts';

interface Entry {
  createdAt: string;
  actor: { displayName?: string | null; type: string };
  action: string;
  resource: { id?: string | null } | string | null;
  details: unknown;
}

const resourceOf = ({ resource }: Entry) =>
  typeof resource === 'object' ? (resource?.id ?? null) : resource;

export const settingsPages: readonly Page[] = [
  {
    path: '/organization',
    label: 'Organization',
    needs: 'organization:read',
    async show(asked) {
      const [organization, audit] = await Promise.all([
        asked.api.get<object>('/v1/organizations/current'),
        asked.api.get<List<Entry>>('/v1/audit', { cursor: asked.query['cursor'] }),
      ]);
      return {
        title: 'Organization',
        body: together(
          facts(organization, [
            ['Name', 'name'],
            ['Plan', 'plan'],
            ['Time zone', 'timezone'],
            ['Sending', 'sendingStatus'],
            ['Paused because', 'pauseReason'],
            ['Onboarding', 'onboarding.status'],
            ['Id', 'id'],
          ]),
          html`<h2>Changes</h2>`,
          table(
            asked,
            audit,
            [
              ['When', ({ createdAt }) => time(createdAt)],
              ['Who', ({ actor }) => actor.displayName ?? actor.type],
              ['Action', ({ action }) => action],
              ['Resource', (entry) => html`<code>${resourceOf(entry)}</code>`],
              [
                'Details',
                ({ details }) =>
                  details !== null && html`<small>${JSON.stringify(details).slice(0, 300)}</small>`,
              ],
            ],
            'Nothing was changed yet.',
          ),
        ),
        command: 'svc audit',
        request: 'GET /v1/audit',
      };
    },
  },
];
