import { formatAddress, parseNetwork, type NetworkSelector } from '@wins/wins-program';
import { FeatureError } from '../../kernel/feature-error.js';

/** Longest name of an adapter or network in a request. */
const MAX_NAME_LENGTH = 256;

/** How the messages spell a choice. */
type ChoiceMessage = { readonly $case: 'Name' | 'Address'; readonly value: string } | undefined;

/** The client's own words for a choice. */
export function textsOfChoice(choice: ChoiceMessage): readonly string[] {
  return choice === undefined ? [] : [choice.value];
}

/**
 * Reads the choice of a client: a name, or an address in its canonical form, with its prefix where one is given. Go
 * clients send an empty text for no choice.
 *
 * @throws FeatureError `invalidArgument` for a name of more than 256 characters or with control characters, and for a
 *   text that is not an address.
 */
export function readChoice(choice: ChoiceMessage): NetworkSelector | undefined {
  if (choice === undefined || choice.value === '') return undefined;
  const { $case, value } = choice;
  if ($case === 'Name') {
    if (value.length <= MAX_NAME_LENGTH && !/\p{Cc}/u.test(value)) return { name: value };
    throw invalid(
      `the name has ${value.length} characters; wanted 1 to ${MAX_NAME_LENGTH} printable ones`,
    );
  }
  const network = parseNetwork(value);
  if (network === undefined)
    throw invalid('the value is not an IP address; wanted for example 192.0.2.2');
  const address = formatAddress(network.bytes);
  return { address: value.includes('/') ? `${address}/${network.prefix}` : address };
}

function invalid(message: string): FeatureError {
  return new FeatureError('invalidArgument', message);
}
