// The part of an event that an installation of an extension may see: all of it with the permission
// to read the resource, or else only ids.
import { allows, type Permission, type PermissionMap } from '../../core/api/permission.ts';
import type { EventType } from './names.ts';

/** The first word of a kind. */
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

/** A test of a webhook shows nothing but the data of the caller. */
const openType: EventType = 'webhook.test';

/** Returns whether these permissions show all data of a kind. */
export function isShown(type: string, permissions: PermissionMap): boolean {
  if (type === openType) return true;
  const [subject = ''] = type.split('.', 1);
  const permission = Object.hasOwn(shownBy, subject) ? shownBy[subject as Subject] : null;
  return permission !== null && allows(permissions, permission);
}

const deepest = 3;
const mostIds = 100;

/** An id of the service. */
const idPattern = /^[a-z]{2,20}_[0-9a-hjkmnp-tv-z]{16,26}$/;
/** Ids that callers choose: they may say anything. */
const ofCallers = 'externalId';

function isId(value: unknown): value is string {
  return typeof value === 'string' && idPattern.test(value);
}

function namesIds(name: string): boolean {
  return (name === 'id' || name.endsWith('Id')) && name !== ofCallers;
}

/** Returns the value if it is an id, a list of ids, or an object with some; else undefined. */
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
 * Returns the data of an event as these permissions show it: whole, or only the ids in it. A
 * deleted resource says so in both cases.
 */
export function shownData(type: string, data: object, permissions: PermissionMap): object {
  if (isShown(type, permissions)) return data;
  const ids = idsIn(data, 0);
  return (data as { deleted?: unknown }).deleted === true ? { ...ids, deleted: true } : ids;
}
