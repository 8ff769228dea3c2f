// Input and output shapes of templates and their published versions (specification 4.6).
import { z } from 'zod';
import { headerText } from '../../core/api/address-schema.ts';
import { noun } from '../../core/api/noun.ts';
import { pageQuery } from '../../core/api/pagination.ts';
import { idPrefixes } from '../../platform/runtime/ids.ts';

export const templateNoun = noun('template', idPrefixes.template);

const longestSlug = 100;

/** A slug. Its pattern excludes ids, which have an underscore. */
export const slugText = z
  .string()
  .max(longestSlug)
  .regex(
    /^[a-z0-9]+(?:-[a-z0-9]+)*$/,
    'may have only lower-case letters, digits and single hyphens between them',
  );

const templateStatuses = ['draft', 'published', 'archived'] as const;
const channels = ['email'] as const;

const name = headerText(200).min(1).meta({ description: 'Name of the template' });
const description = headerText(500).meta({ description: 'Purpose of the template' });
const slug = slugText.meta({ description: 'Name in sends, unique in the organization' });

export const listTemplatesQuery = z.strictObject({
  ...pageQuery,
  status: z.enum(templateStatuses).optional().meta({ description: 'Only templates in this state' }),
  channel: z.enum(channels).optional().meta({ description: 'Only templates for this channel' }),
  slug: slugText.optional().meta({ description: 'Only the template with this slug' }),
});

export const updateTemplateInput = z
  .strictObject({
    name: name.optional(),
    slug: slug.optional(),
    description: description.nullable().optional(),
  })
  .meta({ examples: [{ name: 'Order shipped', description: 'Sent when the parcel leaves' }] });

export const templateOutput = z
  .object({
    id: z.string(),
    organizationId: z.string(),
    name: z.string(),
    slug: z.string(),
    channel: z.enum(channels),
    description: z.string().nullable(),
    status: z.enum(templateStatuses),
    isActive: z.boolean().meta({ description: 'Whether it can be sent: it is published' }),
    familyId: z.string().nullable(),
    version: z
      .number()
      .nullable()
      .meta({ description: 'Number of the version that sends use; null before the first' }),
    publishedAt: z.string().nullable(),
    archivedAt: z.string().nullable(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: 'Template', description: 'Stored content of mail, filled for each message' });

const warning = z.object({
  code: z.string(),
  message: z.string(),
  path: z.string().nullable().meta({ description: 'The file, if the warning is about one' }),
  line: z.number().nullable().meta({ description: 'Line in the file, from 1' }),
});

export const templateVersionOutput = z
  .object({
    id: z.string(),
    templateId: z.string(),
    version: z.number(),
    commit: z.string().meta({ description: 'Commit of the workspace that was compiled' }),
    brand: z
      .string()
      .nullable()
      .meta({ description: 'Slug of the brand whose CSS is in the HTML' }),
    htmlBytes: z.number().meta({ description: 'Size of the compiled HTML' }),
    warnings: z.array(warning),
    createdBy: z
      .string()
      .nullable()
      .meta({ description: 'Id of the key; null at the command line' }),
    createdAt: z.string(),
  })
  .meta({ id: 'TemplateVersion', description: 'A published commit of a template' });

export type TemplateStatus = (typeof templateStatuses)[number];
export type ListTemplates = z.output<typeof listTemplatesQuery>;
export type UpdateTemplate = z.output<typeof updateTemplateInput>;
export type Template = z.output<typeof templateOutput>;
export type TemplateVersion = z.output<typeof templateVersionOutput>;
