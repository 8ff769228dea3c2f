// The kinds of events on a template.
import { eventKind } from '../../history/events/kinds.ts';
import { templateOutput } from './schema.ts';

export const templatePublished = eventKind({
  type: 'template.published',
  summary: 'A template was published: sends use its new version',
  schema: templateOutput,
  sample: {
    id: 'tmpl_06dq2k0qz8h3v5m1r9t4w7xy',
    organizationId: 'org_06dq2k0qz8h3v5m1r9t4w7xy',
    name: 'Order shipped',
    slug: 'order-shipped',
    channel: 'email' as const,
    description: null,
    status: 'published' as const,
    isActive: true,
    familyId: null,
    version: 3,
    publishedAt: '2026-01-05T12:00:00.000Z',
    archivedAt: null,
    createdAt: '2026-01-05T11:40:00.000Z',
    updatedAt: '2026-01-05T12:00:00.000Z',
  },
});
