// Names of operations for clients: a resource and a verb, as in `messages.send` and `threads.list`.
// The names follow from the path and the operationId of a route: `listMessageEvents` below
// `messages/` is `messages` `listEvents`.
import type { Route } from './route.ts';

/** Resource and verb in camelCase: `unsubscribeGroups`, `listMembers`. */
export interface OperationName {
  resource: string;
  verb: string;
}

/** Returns the names of all routes. @throws Error for two routes with the same name */
export function operationNames(routes: readonly Route[]): Map<Route, OperationName> {
  const collections = new Set(routes.flatMap(({ path }) => collectionsIn(path)));
  const taken = new Map<string, Route>();
  const names = new Map<Route, OperationName>();
  for (const route of routes) {
    const name = nameOf(route, collections);
    const key = `${name.resource}.${name.verb}`;
    const other = taken.get(key);
    if (other) throw new Error(`${route.name} and ${other.name} are both called ${key}`);
    taken.set(key, route);
    names.set(route, name);
  }
  return names;
}

/** Returns a name in snake_case: `unsubscribe_groups_list_members`. */
export function snakeName({ resource, verb }: OperationName): string {
  return `${resource}_${verb}`.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function segmentsOf(path: string): string[] {
  return path.replace(/^\/v1\/(?:email\/)?/, '').split('/');
}

/** Returns the first segment of a path, and all segments that a parameter follows. */
function collectionsIn(path: string): string[] {
  const segments = segmentsOf(path);
  return segments.filter(
    (segment, index) => !isParameter(segment) && (index === 0 || isParameter(segments[index + 1])),
  );
}

function isParameter(segment = ''): boolean {
  return segment.startsWith('{');
}

function nameOf({ path, name }: Route, collections: ReadonlySet<string>): OperationName {
  const [action = name] = /^[a-z]+/.exec(name) ?? [];
  const noun = name.slice(action.length);
  const own = segmentsOf(path).filter((segment) => collections.has(segment));
  for (const segment of own) {
    const owners = [pascal(segment), pascal(singularOf(segment))];
    const owner = owners.find((one) => noun.includes(one));
    if (owner === undefined) continue;
    const rest = noun.replace(owner, '');
    const isLink = /^(?:From|To)$/.test(rest);
    return { resource: camel(segment), verb: isLink ? action : action + rest };
  }
  return { resource: camel(own.at(-1) ?? ''), verb: name };
}

function singularOf(segment: string): string {
  if (segment.endsWith('ies')) return `${segment.slice(0, -3)}y`;
  if (/(?:x|ss)es$/.test(segment)) return segment.slice(0, -2);
  return segment.endsWith('s') ? segment.slice(0, -1) : segment;
}

function pascal(segment: string): string {
  return segment.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function camel(segment: string): string {
  const text = pascal(segment);
  return text.charAt(0).toLowerCase() + text.slice(1);
}
