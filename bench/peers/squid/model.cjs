// The table of the Squid in `main.cjs`, declared as its code generator would.
const { Column, Entity, PrimaryColumn } = require('typeorm')

class Transfer {
  constructor(values) {
    Object.assign(this, values)
  }
}

PrimaryColumn('varchar')(Transfer.prototype, 'id')
for (const name of ['block', 'logIndex']) Column({ type: 'int4' })(Transfer.prototype, name)
for (const name of ['token', 'from', 'to', 'txHash']) Column({ type: 'text' })(Transfer.prototype, name)
Column({ type: 'numeric' })(Transfer.prototype, 'amount')
Column({ type: 'timestamptz' })(Transfer.prototype, 'timestamp')
Entity()(Transfer)

exports.Transfer = Transfer
