// Errors of PostgreSQL and of the driver. They are classified by SQLSTATE, or by their origin
// (driver or server), never by texts of the server, which may quote data.
import pg from 'pg';
import { CapacityError } from '../../errors.ts';

/**
 * Classes of SQLSTATE for trouble of the server: connection, rollback, resources, intervention of
 * an operator, system error.
 */
const troubleClasses = ['08', '40', '53', '57', '58'];
/** SQLSTATE of a refused write: the server is a standby, or has just become a standby. */
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
 * SQLSTATEs of a transaction that the server ended in favour of a parallel transaction:
 * serialization failure, deadlock.
 */
const rerunStates = ['40001', '40P01'];
/**
 * SQLSTATE of a prepared statement that would return different columns than before, since a new
 * version added a column.
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
 * Returns a CapacityError if the server or the network failed, and errors of the statement itself
 * unchanged.
 */
export function statementError(error: unknown): unknown {
  if (error instanceof pg.DatabaseError) {
    return isTrouble(error.code ?? '') ? inTrouble(error) : error;
  }
  // A value that cannot be sent is a bug, which the driver finds before it sends anything.
  if (error instanceof TypeError || error instanceof RangeError) return error;
  return inTrouble(error);
}

/** Returns a CapacityError for a failed statement or connection. */
export function inTrouble(error: unknown): CapacityError {
  return new CapacityError(`The store cannot be used now (${reasonOf(error)})`, 1, {
    cause: error,
  });
}

/**
 * Returns the message of an error, or else the code: an error that joins failures of several
 * addresses has an empty message.
 */
export function reasonOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string };
  return message || code || String(error);
}

/** Returns the SQLSTATE in an error of `inTrouble`; '' for any other error. */
function troubleStateOf(error: unknown): string {
  const cause = error instanceof CapacityError ? error.cause : undefined;
  return cause instanceof pg.DatabaseError ? (cause.code ?? '') : '';
}

/** Tells whether the same transaction may succeed in a second run. */
export function isRerunnable(error: unknown): boolean {
  return rerunStates.includes(troubleStateOf(error)) || isStalePlan(error);
}

/** Tells whether a statement was prepared before a column was added to the table. */
export function isStalePlan(error: unknown): boolean {
  return troubleStateOf(error) === stalePlanState;
}

/**
 * Tells whether the server refuses writes. The next connection may find the server that took over.
 */
export function isReadOnly(error: unknown): boolean {
  return troubleStateOf(error) === readOnlyState;
}

/** Tells whether a statement got no answer in time, an error of the driver without a code. */
export function isSilent(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}
