// Blocked addresses: no mail goes there.
import { html, together } from '../html.ts';
import type { Asked, Form, Page } from '../page.ts';
import { button, choice, field, filters, form, type List, table, time } from '../parts.ts';

interface Block {
  id: string;
  address: string;
  reason: string;
  createdAt: string;
}

const reasons = ['bounce', 'complaint', 'unsubscribe', 'manual'];

export const blockPages: readonly Page[] = [
  {
    path: '/blocks',
    label: 'Blocks',
    needs: 'blocks:read',
    async show(asked) {
      const { address, reason, page } = asked.query;
      const found = await asked.api.get<List<Block>>('/v1/email/blocks', { address, reason, page });
      return {
        title: 'Blocked addresses',
        body: together(
          filters(html`
            ${field({ name: 'address', label: 'Address', value: address, type: 'search' })}
            ${choice({ name: 'reason', label: 'Reason', options: reasons, value: reason })}
          `),
          table(
            asked,
            found,
            [
              ['Address', (block) => block.address],
              ['Reason', (block) => block.reason],
              ['Since', ({ createdAt }) => time(createdAt)],
              [
                'Actions',
                ({ id }) =>
                  asked.may('blocks:delete') &&
                  button(asked, { action: 'delete', label: 'Remove', fields: { id } }),
              ],
            ],
            'No address is blocked. Hard bounces and complaints are blocked by themselves.',
          ),
          asked.may('blocks:write') &&
            form(
              asked,
              'add',
              'Block',
              field({ name: 'address', label: 'Address', isRequired: true }),
            ),
        ),
        command: 'svc blocks list',
        request: 'GET /v1/email/blocks',
      };
    },
    actions: {
      add: {
        needs: 'blocks:write',
        async run({ api }: Asked, { address = '' }: Form) {
          await api.send('POST', '/v1/email/blocks', { address: address.trim() });
          return '/console/blocks';
        },
      },
      delete: {
        needs: 'blocks:delete',
        async run({ api }: Asked, { id = '' }: Form) {
          await api.send('DELETE', `/v1/email/blocks/${encodeURIComponent(id)}`);
          return '/console/blocks';
        },
      },
    },
  },
];
