// Templates and the versions of one.
import { html, together } from '../html.ts';
import type { Page } from '../page.ts';
import { button, facts, type List, link, state, table, time } from '../parts.ts';

interface Template {
  id: string;
  name: string;
  slug: string;
  status: string;
  version: number | null;
  updatedAt: string;
}

interface Version {
  version: number;
  commit: string;
  htmlBytes: number | null;
  createdAt: string;
}

export const templatePages: readonly Page[] = [
  {
    path: '/templates',
    label: 'Templates',
    needs: 'templates:read',
    async show(asked) {
      const found = await asked.api.get<List<Template>>('/v1/templates', {
        page: asked.query['page'],
      });
      return {
        title: 'Templates',
        body: table(
          asked,
          found,
          [
            ['Name', ({ id, name }) => link(`/templates/${id}`, name)],
            ['Slug', ({ slug }) => slug],
            ['Status', ({ status }) => state(status)],
            ['Version', ({ version }) => version],
            ['Changed', ({ updatedAt }) => time(updatedAt)],
          ],
          'There is no template yet: "svc templates create" makes one from a folder.',
        ),
        command: 'svc templates list',
        request: 'GET /v1/templates',
      };
    },
  },
  {
    path: '/templates/:id',
    needs: 'templates:read',
    async show(asked) {
      const path = `/v1/templates/${asked.params['id']}`;
      const [template, versions] = await Promise.all([
        asked.api.get<Template>(path),
        asked.api.get<List<Version>>(`${path}/versions`, { page: asked.query['page'] }),
      ]);
      return {
        title: template.name,
        body: together(
          asked.may('templates:write') &&
            html`<div class="row">${button(asked, { action: 'publish', label: 'Publish main', isFirst: true })}</div>`,
          facts(template, [
            ['Slug', 'slug'],
            ['Status', 'status'],
            ['Description', 'description'],
            ['Published', 'publishedAt'],
            ['Id', 'id'],
          ]),
          html`<h2>Versions</h2>`,
          table(
            asked,
            versions,
            [
              ['Version', ({ version }) => version],
              ['Commit', ({ commit }) => html`<code>${commit.slice(0, 10)}</code>`],
              ['HTML', ({ htmlBytes }) => htmlBytes],
              ['Published', ({ createdAt }) => time(createdAt)],
            ],
            'Nothing is published yet.',
          ),
        ),
        command: `svc templates show ${asked.params['id']}`,
        request: `GET ${path}`,
      };
    },
    actions: {
      publish: {
        needs: 'templates:write',
        async run({ api, params }) {
          await api.send('POST', `/v1/templates/${params['id']}/publish`, {});
          return `/console/templates/${params['id']}`;
        },
      },
    },
  },
];
