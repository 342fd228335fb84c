package contract

import (
	"encoding/json"
	"math"
	"time"
)

// HungAfter is how long a call of a member may take: longer than any pause of a zombie.
const HungAfter = 50 * time.Second

// TransactionTimeout is longer than any pause: a transaction that has timed out would hide a zombie.
const TransactionTimeout = 60 * time.Second

// MemberTask is the task of one member of a group, as harness/subjects/group/task.py describes it.
type MemberTask struct {
	Name            string  `json:"name"`
	Bootstrap       string  `json:"bootstrap"`
	Group           string  `json:"group"`
	Topic           string  `json:"topic"`
	Sink            string  `json:"sink"`
	Commits         string  `json:"commits"`
	Rewind          bool    `json:"rewind"`
	Batch           int     `json:"batch"`
	Calls           *string `json:"calls"`
	TransactionalID *string `json:"transactional_id"`
}

// LoadMemberTask loads the task whose path is the last argument.
func LoadMemberTask() MemberTask {
	var task MemberTask
	load(&task)
	if task.Commits != "in-transaction" || task.Calls != nil {
		Die("a Go member commits in transactions and makes no calls")
	}
	return task
}

// OwnTransactionalID returns its transactional id, given or made of the group and its name.
func (t MemberTask) OwnTransactionalID() string {
	if t.TransactionalID != nil {
		return *t.TransactionalID
	}
	return t.Group + "-" + t.Name
}

// Effect returns the effect of a payment: the payment with its fee, 2.9 % of the amount, rounded
// down, and 30 cents. It is code of the pipeline on trial; harness/workload/payments.py has the
// expectation.
func Effect(payment []byte) []byte {
	var read struct {
		Record  string `json:"record"`
		Account string `json:"account"`
		Amount  int64  `json:"amount_cents"`
	}
	if err := json.Unmarshal(payment, &read); err != nil {
		Die("not a payment: %s", payment)
	}
	effect, err := json.Marshal(map[string]any{
		"record": read.Record, "account": read.Account, "amount_cents": read.Amount,
		"fee_cents": int64(math.Floor(float64(read.Amount*29)/1000)) + 30,
	})
	if err != nil {
		Die("%v", err)
	}
	return effect
}
