/** Events of the contract that creates standard tokens. Tokens of genesis have none. */

import { tip20FactoryAddress } from '../../addresses.ts'
import { defineEvent } from '../event.ts'

export const tokenCreated = defineEvent({
  signature:
    'event TokenCreated(address indexed token, string name, string symbol, string currency, address quoteToken, address admin, bytes32 salt)',
  emittedBy: tip20FactoryAddress,
  title: 'Token created',
})
