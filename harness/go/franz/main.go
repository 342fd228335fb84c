// A producer with franz-go: `franz TASK`.
package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"onceproof/clients/contract"
)

type client struct {
	kafka *kgo.Client
}

func main() { contract.Main(open) }

func open(task contract.Task) (contract.Transactional, error) {
	given := contract.Settings(task.Client)
	given.Only("Idempotent", "MetadataMinAge", "ProduceRequestTimeout", "ProducerLinger",
		"RecordDeliveryTimeout", "RequestTimeoutOverhead", "RetryBackoff", "TransactionTimeout")
	options := []kgo.Opt{
		kgo.SeedBrokers(strings.Split(task.Bootstrap, ",")...),
		kgo.ClientID(task.Name),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.ProducerLinger(given.Duration("ProducerLinger")),
		kgo.ProduceRequestTimeout(given.Duration("ProduceRequestTimeout")),
		kgo.RequestTimeoutOverhead(given.Duration("RequestTimeoutOverhead")),
		kgo.RecordDeliveryTimeout(given.Duration("RecordDeliveryTimeout")),
		kgo.RetryBackoffFn(func(int) time.Duration { return given.Duration("RetryBackoff") }),
		kgo.MetadataMinAge(given.Duration("MetadataMinAge")),
	}
	if !given.Bool("Idempotent") {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	if task.TransactionalID != nil {
		options = append(options,
			kgo.TransactionalID(*task.TransactionalID),
			kgo.TransactionTimeout(given.Duration("TransactionTimeout")))
	}
	made, err := kgo.NewClient(options...)
	if err != nil {
		return nil, err
	}
	if task.TransactionalID != nil {
		// It asks for its producer id now, which ends an open transaction of its predecessor.
		if _, _, err := made.ProducerID(context.Background()); err != nil {
			made.Close()
			return nil, err
		}
	}
	return &client{kafka: made}, nil
}

func (c *client) Send(topic string, key, value []byte, headers []contract.Header,
	done func(contract.Outcome)) {
	record := &kgo.Record{Topic: topic, Key: key, Value: value}
	for _, header := range headers {
		own := kgo.RecordHeader{Key: header.Name, Value: header.Value}
		record.Headers = append(record.Headers, own)
	}
	c.kafka.Produce(context.Background(), record, func(sent *kgo.Record, err error) {
		// A record that was too large, or found no place in the buffer, was never sent.
		certain := errors.Is(err, kerr.MessageTooLarge) || errors.Is(err, kgo.ErrMaxBuffered)
		done(contract.Outcome{
			Partition: sent.Partition, Offset: sent.Offset, Err: err, Certain: certain,
		})
	})
}

func (c *client) Close() { c.kafka.Close() }

func (c *client) Begin() error { return c.kafka.BeginTransaction() }

// End does as the library's documentation says: a commit that was not attempted is aborted; after
// one whose outcome is not known, an abort fences what is still open, and the client goes on.
func (c *client) End(commit bool) contract.Ending {
	if !commit {
		return c.abort("aborted", nil)
	}
	err := c.kafka.EndTransaction(context.Background(), kgo.TryCommit)
	switch {
	case err == nil:
		return contract.Ending{Outcome: "committed", Usable: true}
	case errors.Is(err, kerr.OperationNotAttempted), errors.Is(err, kerr.TransactionAbortable):
		return c.abort("aborted", err)
	}
	return c.abort("info", err)
}

// abort aborts; the outcome is what it is if that succeeds.
func (c *client) abort(outcome string, why error) contract.Ending {
	err := c.kafka.EndTransaction(context.Background(), kgo.TryAbort)
	if err != nil {
		return contract.Ending{Outcome: "info", Err: errors.Join(why, err)}
	}
	return contract.Ending{Outcome: outcome, Err: why, Usable: true}
}
