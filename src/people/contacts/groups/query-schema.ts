// The query of a group: a tree of conditions on a contact. The size is checked before the
// conditions, so a large tree costs nothing. A problem names the place in the tree, such as
// `query.all.1.field`.
import { z } from 'zod';
import { idOf } from '../../../core/api/resource-schema.ts';
import { contactStatuses, contactTag, longestField } from '../schema.ts';

const mostConditions = 50;
/** Longest `field`: the name of a custom field, and the path before it. */
const longestFieldName = 1_000;
const deepest = 5;
const mostBytes = 16_384;
const mostDays = 3_650;
/** Most values in a comparison `in`. */
const mostValues = 100;

/** Fields of the profile that a condition may name, without custom fields. */
const profileFields = [
  'firstName',
  'lastName',
  'company',
  'jobTitle',
  'source',
  'location.country',
  'location.state',
  'location.city',
  'location.timezone',
].map((name) => `profile.${name}`);

const customField = /^profile\.customFields\..{1,100}$/su;

const times = ['createdAt', 'updatedAt'];

const namedFields = ['email', ...times, 'preferences.language', ...profileFields];

const field = z
  .string()
  .max(longestFieldName)
  .refine(
    (name) => namedFields.includes(name) || customField.test(name),
    'must be a field such as email, createdAt, preferences.language, profile.company or ' +
      'profile.customFields.NAME',
  );

const activity = z.strictObject({
  campaignId: idOf({ prefix: 'camp' }, 'is not a campaign id')
    .optional()
    .describe('Mail of this campaign; of any campaign without it'),
  withinDays: z.int().min(1).max(mostDays).describe('Age of the activity in days, at most'),
});

/** Ways to compare a field. */
const comparisons = [
  ...(['is', 'isNot', 'in', 'contains', 'startsWith'] as const),
  ...(['before', 'after', 'exists'] as const),
] as const;

/** Ways to compare a time of the contact, which is never a text and never missing. */
const comparisonsOfTime: readonly string[] = ['before', 'after'];

/** Tells whether a field allows this comparison. For example, no address is before a day. */
function compares(name: unknown, comparison: string): boolean {
  const isOfTime = comparisonsOfTime.includes(comparison);
  if (times.includes(String(name))) return isOfTime;
  return name !== 'email' || !isOfTime;
}

/** Names of conditions, and of the nodes that join them. A node has exactly one name. */
const kinds = [
  ...(['all', 'any', 'not', 'tag', 'status', 'field'] as const),
  ...(['opened', 'clicked', 'received'] as const),
] as const;

export interface ContactQuery {
  all?: ContactQuery[] | undefined;
  any?: ContactQuery[] | undefined;
  not?: ContactQuery | undefined;
  tag?: string | undefined;
  status?: (typeof contactStatuses)[number] | undefined;
  field?: string | undefined;
  is?: string | undefined;
  isNot?: string | undefined;
  in?: string[] | undefined;
  contains?: string | undefined;
  startsWith?: string | undefined;
  before?: string | undefined;
  after?: string | undefined;
  exists?: boolean | undefined;
  opened?: Activity | undefined;
  clicked?: Activity | undefined;
  received?: Activity | undefined;
}

export type Activity = z.output<typeof activity>;

type Given = Partial<Record<string, unknown>>;

/** Returns the first problem of a node, ignoring the nodes below it; null if it is valid. */
function problemOf(node: Given): { path: string[]; message: string } | null {
  const has = (name: string) => node[name] !== undefined;
  const [kind, other] = kinds.filter(has);
  const compared = comparisons.filter(has);
  if (kind === undefined) {
    const [first] = compared;
    if (first !== undefined) return { path: [first], message: 'needs a field to compare' };
    return { path: [], message: `needs one of ${kinds.join(', ')}` };
  }
  if (other !== undefined) {
    return { path: [other], message: `cannot stand beside ${kind}: join both by all or any` };
  }
  if (kind !== 'field') {
    const [stray] = compared;
    return stray === undefined ? null : { path: [stray], message: 'compares a field only' };
  }
  const [first, second] = compared;
  if (first !== undefined && !compares(node.field, first)) {
    const able = comparisons.filter((comparison) => compares(node.field, comparison));
    return { path: [first], message: `cannot compare ${node.field}: use ${able.join(', ')}` };
  }
  if (compared.length === 1) return null;
  if (second === undefined) return { path: [], message: `needs one of ${comparisons.join(', ')}` };
  return { path: [second], message: 'is a second comparison: join two conditions by all or any' };
}

const day = z.iso.date();

const node: z.ZodType<ContactQuery> = z
  .strictObject({
    get all() {
      return z.array(node).min(1).optional().describe('All of these conditions hold');
    },
    get any() {
      return z.array(node).min(1).optional().describe('At least one of these conditions holds');
    },
    get not() {
      return node.optional().describe('This condition does not hold');
    },
    tag: contactTag.optional().describe('Contacts with this tag'),
    status: z.enum(contactStatuses).optional().describe('Contacts with this status'),
    field: field.optional().describe('Field to compare'),
    is: z.string().max(longestField).optional().describe('Text that equals the field'),
    isNot: z
      .string()
      .max(longestField)
      .optional()
      .describe('Text that differs from the field; contacts without the field match too'),
    in: z
      .array(z.string().max(longestField))
      .min(1)
      .max(mostValues)
      .optional()
      .describe('Texts that include the field, at most 100'),
    startsWith: z
      .string()
      .min(1)
      .max(longestField)
      .optional()
      .describe('Text with which the field begins'),
    contains: z
      .string()
      .min(1)
      .max(longestField)
      .optional()
      .describe('Text that the field contains'),
    before: day.optional().describe('Day; the field is earlier'),
    after: day.optional().describe('Day; the field is later'),
    exists: z.boolean().optional().describe('Whether the field has a value'),
    opened: activity.optional().describe('Contacts that opened a mail of campaigns'),
    clicked: activity.optional().describe('Contacts that clicked in a mail of campaigns'),
    received: activity.optional().describe('Contacts that received a mail of campaigns'),
  })
  .superRefine((value, context) => {
    const problem = problemOf(value);
    if (problem) context.addIssue({ code: 'custom', ...problem });
  })
  .meta({
    id: 'ContactQuery',
    description:
      'A condition on contacts: `all`, `any` or `not` of others, a tag, a status, a field that is ' +
      'compared, or mail of campaigns that the contact opened, clicked or received',
  });

/** Returns the nodes directly below a node; empty for a value that is not a node. */
function below(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const { all, any, not } = value as Given;
  return [all, any]
    .flatMap((list) => (Array.isArray(list) ? list.slice(0, mostConditions + 1) : []))
    .concat(not === undefined ? [] : [not]);
}

/** Returns the problem with the size of a tree; null within the limits. */
function sizeProblem(tree: unknown): string | null {
  let level = [tree];
  let conditions = 0;
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > deepest) return `must be at most ${deepest} levels deep`;
    const next: unknown[] = [];
    for (const one of level) {
      const inner = below(one);
      if (inner.length === 0) conditions += 1;
      next.push(...inner);
      if (conditions + next.length > mostConditions) {
        return `must have at most ${mostConditions} conditions`;
      }
    }
    level = next;
  }
  return null;
}

/** A stored query in an answer. */
export const contactQueryOutput = node;

/** The query of a group: at most 50 conditions in 5 levels and 16 KB. */
export const contactQuery = z
  .preprocess((tree, context) => {
    const problem = sizeProblem(tree);
    if (problem === null) return tree;
    context.addIssue({ code: 'custom', message: problem });
    return z.NEVER;
  }, node)
  .refine((tree) => Buffer.byteLength(JSON.stringify(tree)) <= mostBytes, {
    message: 'is longer than 16 KB of JSON',
  });

/** Counts the conditions of a query. */
export function conditionsIn({ all, any, not }: ContactQuery): number {
  const inner = [all ?? [], any ?? [], not ?? []].flat();
  return inner.length === 0 ? 1 : inner.reduce((sum, one) => sum + conditionsIn(one), 0);
}

/** Lists the campaigns that a query names. */
export function campaignsIn({ all, any, not, ...one }: ContactQuery): string[] {
  const inner = [all ?? [], any ?? [], not ?? []].flat();
  const { campaignId } = one.opened ?? one.clicked ?? one.received ?? {};
  return [...new Set([...inner.flatMap(campaignsIn), ...(campaignId ? [campaignId] : [])])];
}
