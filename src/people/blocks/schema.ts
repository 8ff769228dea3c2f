// Schemas of blocks: addresses that get no mail after a bounce, complaint, unsubscribe, or by hand.
import { z } from 'zod';
import { domainName, emailAddress } from '../../core/api/address-schema.ts';
import { pageQuery } from '../../core/api/pagination.ts';
import { idPath, timeRange } from '../../core/api/resource-schema.ts';

export const blockReasons = ['bounce', 'complaint', 'unsubscribe', 'manual'] as const;

export type BlockReason = (typeof blockReasons)[number];

/** Reasons by weight. A contact with several blocks shows the first of these reasons. */
export const reasonsByWeight = ['complaint', 'bounce', 'unsubscribe', 'manual'] as const;

const exportFormats = ['csv', 'ndjson'] as const;

const reason = z.enum(blockReasons);

export const blockPath = idPath('block', 'a block');

export const listBlocksQuery = z.strictObject({
  ...pageQuery,
  ...timeRange('blocks created'),
  reason: reason.optional().meta({ description: 'Only blocks with this reason' }),
  address: emailAddress
    .optional()
    .meta({ description: 'Only blocks of this address, in any case of letters' }),
});

export const createBlockInput = z
  .strictObject({
    address: emailAddress.meta({ description: 'Address to block' }),
    reason: reason.default('manual').meta({ description: 'Reason of the block' }),
  })
  .meta({ examples: [{ address: 'someone@example.com', reason: 'unsubscribe' }] });

/** Options of `svc blocks import`; the formats are data of `people/imports/services.ts`. */
export const importBlocksInput = z.strictObject({
  format: z.string().max(40).optional(),
  reason: reason.default('manual'),
});

export const exportBlocksInput = z.strictObject({
  format: z.enum(exportFormats).default('csv'),
  reason: reason.optional(),
});

/** Options of `svc blocks delete` without an id. */
export const liftBlocksInput = z.strictObject({
  reason,
  ...timeRange('blocks made'),
  domain: domainName.optional(),
});

export const blockOutput = z
  .object({
    id: z.string().describe('Id of the block'),
    address: z.string().describe('Blocked address'),
    reason: reason.describe('Reason of the block'),
    unsubscribeGroupId: z.string().nullable().meta({ description: 'Null: blocks all mail' }),
    messageId: z
      .string()
      .nullable()
      .meta({ description: 'Message that bounced or caused the complaint' }),
    createdAt: z.string().describe('Time of creation'),
  })
  .meta({ id: 'Block', description: 'An address that gets no mail' });

export type ExportOptions = z.output<typeof exportBlocksInput>;
export type LiftBlocks = z.output<typeof liftBlocksInput>;
export type ListBlocks = z.output<typeof listBlocksQuery>;
export type CreateBlock = z.output<typeof createBlockInput>;
export type Block = z.output<typeof blockOutput>;
