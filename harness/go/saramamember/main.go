// A member of a group with Sarama, which reads payments and writes them with their fee to another
// topic, effects and offsets in one transaction: `saramamember TASK`.
//
// One producer commits batches of one partition after the other. After an abort, the session ends,
// and the next one starts at the committed offsets. The broken twin does what the library's own
// example of exactly-once does: see docs/findings/sarama-example-goes-on.md. After a fatal error the program exits, and its supervisor starts it again.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"onceproof/clients/contract"
)

type member struct {
	task     contract.MemberTask
	producer sarama.AsyncProducer
	watchdog *contract.Watchdog
	outcomes chan error
	turn     sync.Mutex
	end      context.CancelFunc
}

func main() {
	task := contract.LoadMemberTask()
	brokers := strings.Split(task.Bootstrap, ",")
	group, err := sarama.NewConsumerGroup(brokers, task.Group, consumer(task))
	if err != nil {
		contract.Die("ended: %v", err)
	}
	m := &member{
		task: task, watchdog: contract.NewWatchdog(contract.HungAfter),
		outcomes: make(chan error, task.Batch),
	}
	if m.producer, err = sarama.NewAsyncProducer(brokers, producer(task)); err != nil {
		contract.Die("ended: %v", err)
	}
	go func() {
		for range m.producer.Successes() {
			m.outcomes <- nil
		}
	}()
	go func() {
		for failed := range m.producer.Errors() {
			m.outcomes <- failed.Err
		}
	}()
	for {
		ctx, end := context.WithCancel(context.Background())
		m.end = end
		if err := group.Consume(ctx, []string{task.Topic}, m); err != nil {
			fmt.Fprintln(os.Stderr, "consume:", err)
			time.Sleep(200 * time.Millisecond)
		}
		end()
	}
}

func common(task contract.MemberTask) *sarama.Config {
	config := sarama.NewConfig()
	config.ClientID = task.Name
	config.Version = sarama.V4_0_0_0
	config.Net.DialTimeout = 2 * time.Second
	config.Metadata.Retry.Max = 100
	config.Metadata.Retry.Backoff = 100 * time.Millisecond
	return config
}

func consumer(task contract.MemberTask) *sarama.Config {
	config := common(task)
	config.Consumer.IsolationLevel = sarama.ReadCommitted
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.Group.Session.Timeout = 6 * time.Second
	config.Consumer.Group.Heartbeat.Interval = time.Second
	config.Consumer.Group.Rebalance.Timeout = 10 * time.Second
	config.Consumer.Group.Rebalance.Retry.Max = 100
	config.Consumer.Group.Rebalance.Retry.Backoff = 200 * time.Millisecond
	return config
}

func producer(task contract.MemberTask) *sarama.Config {
	config := common(task)
	config.Net.ReadTimeout = 4 * time.Second
	config.Net.MaxOpenRequests = 1
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Idempotent = true
	config.Producer.Timeout = 3 * time.Second
	config.Producer.Retry.Max = 1000
	config.Producer.Retry.Backoff = 100 * time.Millisecond
	config.Producer.Flush.Frequency = 5 * time.Millisecond
	config.Producer.Return.Successes = true
	config.Producer.Transaction.ID = task.OwnTransactionalID()
	config.Producer.Transaction.Timeout = contract.TransactionTimeout
	return config
}

func (m *member) Setup(sarama.ConsumerGroupSession) error { return nil }

func (m *member) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (m *member) ConsumeClaim(
	session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim,
) error {
	for {
		select {
		case first, ok := <-claim.Messages():
			if !ok {
				return nil
			}
			read := m.waiting(first, claim)
			m.turn.Lock()
			if session.Context().Err() == nil {
				m.watchdog.Over("a transaction", func() { m.process(session, read) })
			}
			m.turn.Unlock()
		case <-session.Context().Done():
			return nil
		}
	}
}

// waiting returns a message and those that wait behind it, at most a batch.
func (m *member) waiting(
	first *sarama.ConsumerMessage, claim sarama.ConsumerGroupClaim,
) []*sarama.ConsumerMessage {
	read := []*sarama.ConsumerMessage{first}
	for len(read) < m.task.Batch {
		select {
		case next, ok := <-claim.Messages():
			if !ok {
				return read
			}
			read = append(read, next)
		default:
			return read
		}
	}
	return read
}

// process commits effects and offsets of one partition in one transaction.
func (m *member) process(session sarama.ConsumerGroupSession, read []*sarama.ConsumerMessage) {
	first, last := read[0], read[len(read)-1]
	if err := m.producer.BeginTxn(); err != nil {
		contract.Die("ended: begin: %v", err)
	}
	for _, message := range read {
		m.producer.Input() <- m.effect(message)
	}
	var failed error
	for range read {
		failed = errors.Join(failed, <-m.outcomes)
	}
	ends := map[string][]*sarama.PartitionOffsetMetadata{
		last.Topic: {{Partition: last.Partition, Offset: last.Offset + 1}},
	}
	metadata := sarama.NewConsumerGroupMetadataFromSession(session, m.task.Group, nil)
	if failed == nil {
		failed = m.try(func() error {
			return m.producer.AddOffsetsToTxnWithGroupMetadata(ends, metadata)
		})
	}
	if failed == nil {
		failed = m.try(m.producer.CommitTxn)
	}
	if failed == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "aborting:", failed)
	if err := m.try(m.producer.AbortTxn); err != nil {
		contract.Die("ended: %v", err)
	}
	if m.task.Rewind {
		m.end()
	} else {
		session.ResetOffset(first.Topic, first.Partition, first.Offset, "")
	}
}

// try repeats a call of the producer as long as the library permits it; it ends the program when
// the producer is in a fatal state.
func (m *member) try(call func() error) error {
	for {
		err := call()
		if err == nil {
			return nil
		}
		status := m.producer.TxnStatus()
		if status&sarama.ProducerTxnFlagFatalError != 0 {
			contract.Die("ended: %v", err)
		}
		if status&sarama.ProducerTxnFlagAbortableError != 0 {
			return err
		}
		fmt.Fprintln(os.Stderr, "again:", err)
	}
}

func (m *member) effect(message *sarama.ConsumerMessage) *sarama.ProducerMessage {
	found := &sarama.ProducerMessage{
		Topic: m.task.Sink, Key: sarama.ByteEncoder(message.Key),
		Value: sarama.ByteEncoder(contract.Effect(message.Value)),
	}
	for _, header := range message.Headers {
		if string(header.Key) == contract.RecordHeader {
			found.Headers = append(found.Headers, *header)
		}
	}
	return found
}
