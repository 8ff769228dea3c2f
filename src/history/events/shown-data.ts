// Selects the part of an event that an installation of an extension may see: the whole event if it
// may read the resource, or else only ids.
import { allows, type Permission, type PermissionMap } from '../../core/api/permission.ts';
import type { EventType } from './names.ts';

/** First word of a kind, such as `message`. */
type Subject = EventType extends infer Type
  ? Type extends `${infer First}.${string}`
    ? First
    : never
  : never;

/** Permission that shows the data of a kind, by the first word of the kind. */
const shownBy: Readonly<Record<Subject, Permission>> = {
  message: 'messages:read',
  mailbox: 'mailboxes:read',
  domain: 'domains:read',
  sender: 'senders:read',
  workspace: 'organization:read',
  contact: 'contacts:read',
  conversation: 'conversations:read',
  template: 'templates:read',
  warming: 'domains:read',
  campaign: 'campaigns:read',
  service: 'organization:read',
  webhook: 'webhooks:read',
  extension: 'extensions:read',
};

/** A test of a webhook contains only data of the caller, so every installation may see it. */
const openType: EventType = 'webhook.test';

/** Tells whether an installation with these permissions may see all data of a kind. */
export function isShown(type: string, permissions: PermissionMap): boolean {
  if (type === openType) return true;
  const [subject = ''] = type.split('.', 1);
  const permission = Object.hasOwn(shownBy, subject) ? shownBy[subject as Subject] : null;
  return permission !== null && allows(permissions, permission);
}

const deepest = 3;
const mostIds = 100;

/** Form of an id that the service makes. */
const idPattern = /^[a-z]{2,20}_[0-9a-hjkmnp-tv-z]{16,26}$/;
/** Field with ids that callers choose: such ids may contain anything, so they are hidden. */
const ofCallers = 'externalId';

function isId(value: unknown): value is string {
  return typeof value === 'string' && idPattern.test(value);
}

function namesIds(name: string): boolean {
  return (name === 'id' || name.endsWith('Id')) && name !== ofCallers;
}

/** Returns the ids in a value: an id, a list of ids, or an object with ids; else undefined. */
function idsOf(name: string, value: unknown, depth: number): unknown {
  if (typeof value === 'string') return namesIds(name) && isId(value) ? value : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    return name.endsWith('Ids') && value.every(isId) ? value.slice(0, mostIds) : undefined;
  }
  const ids = depth < deepest ? idsIn(value, depth + 1) : {};
  return Object.keys(ids).length > 0 ? ids : undefined;
}

function idsIn(data: object, depth: number): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(data)) {
    const ids = idsOf(name, value, depth);
    if (ids !== undefined) found[name] = ids;
  }
  return found;
}

/**
 * Returns the data of an event as these permissions show it: whole, or only the ids in it. The mark
 * of a deleted resource is shown in both cases.
 */
export function shownData(type: string, data: object, permissions: PermissionMap): object {
  if (isShown(type, permissions)) return data;
  const ids = idsIn(data, 0);
  return (data as { deleted?: unknown }).deleted === true ? { ...ids, deleted: true } : ids;
}
