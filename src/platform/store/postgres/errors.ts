// Errors of PostgreSQL and of the driver. They are classified by SQLSTATE, or by whether the
// driver or the server raised them; never by a text of the server, which may quote data.
import pg from 'pg';
import { CapacityError } from '../../errors.ts';

/**
 * Classes of SQLSTATE for trouble of the server: connection, rollback, resources, intervention of
 * an operator, system error.
 */
const troubleClasses = ['08', '40', '53', '57', '58'];
/** The server is a standby, or has just become one. */
const readOnlyState = '25006';
const troubleStates = [
  readOnlyState,
  // A transaction or a wait for a lock took too long.
  '25P03',
  '25P04',
  '55P03',
  // Damaged rows, or a damaged index.
  'XX001',
  'XX002',
];
/**
 * The server ended the transaction in favour of a different transaction: serialization failure,
 * deadlock.
 */
const rerunStates = ['40001', '40P01'];
/**
 * A prepared statement returns different columns than before: a newer version has widened a table.
 */
const stalePlanState = '0A000';

function isTrouble(state: string): boolean {
  return (
    troubleClasses.includes(state.slice(0, 2)) ||
    troubleStates.includes(state) ||
    state === stalePlanState
  );
}

/**
 * Returns CapacityError if the server or the network fails. Errors of the statement itself stay
 * unchanged.
 */
export function statementError(error: unknown): unknown {
  if (error instanceof pg.DatabaseError) {
    return isTrouble(error.code ?? '') ? inTrouble(error) : error;
  }
  // A value that cannot be sent is a mistake in our code; the driver finds it before it sends
  // anything.
  if (error instanceof TypeError || error instanceof RangeError) return error;
  return inTrouble(error);
}

/** Returns the CapacityError of a failed statement or connection. */
export function inTrouble(error: unknown): CapacityError {
  return new CapacityError(`The store cannot be used now (${reasonOf(error)})`, 1, {
    cause: error,
  });
}

/**
 * Returns the reason of an error. An error that joins failures of several addresses has no message
 * of its own.
 */
export function reasonOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string };
  return message || code || String(error);
}

/**
 * Returns the SQLSTATE of a trouble that `inTrouble` has made an error of; '' for any other error.
 */
function troubleStateOf(error: unknown): string {
  const cause = error instanceof CapacityError ? error.cause : undefined;
  return cause instanceof pg.DatabaseError ? (cause.code ?? '') : '';
}

/** Tells whether the same transaction may succeed if it runs again. */
export function isRerunnable(error: unknown): boolean {
  return rerunStates.includes(troubleStateOf(error)) || isStalePlan(error);
}

/** Tells whether a prepared statement was made before a table was widened. */
export function isStalePlan(error: unknown): boolean {
  return troubleStateOf(error) === stalePlanState;
}

/**
 * Tells whether the server takes no writes: the next connection may find the server that took over.
 */
export function isReadOnly(error: unknown): boolean {
  return troubleStateOf(error) === readOnlyState;
}

/** Tells whether a statement had no answer in time: an error of the driver without a code. */
export function isSilent(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}
