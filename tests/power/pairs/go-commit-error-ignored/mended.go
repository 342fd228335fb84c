// Writes orders into a table, then commits how far it has read.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
)

type order struct {
	ID   string `json:"order_id"`
	Item string `json:"item"`
}

func write(ctx context.Context, database *pgxpool.Pool, orders []order) error {
	transaction, err := database.Begin(ctx)
	if err != nil {
		return err
	}
	defer transaction.Rollback(ctx)
	rows := &pgx.Batch{}
	for _, each := range orders {
		rows.Queue("INSERT INTO shipped VALUES ($1, $2) ON CONFLICT DO NOTHING", each.ID, each.Item)
	}
	if err := transaction.SendBatch(ctx, rows).Close(); err != nil {
		return err
	}
	return transaction.Commit(ctx)
}

func main() {
	ctx := context.Background()
	database, err := pgxpool.New(ctx, os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	table := "CREATE TABLE IF NOT EXISTS shipped (order_id text PRIMARY KEY, item text)"
	if _, err := database.Exec(ctx, table); err != nil {
		log.Fatal(err)
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(os.Args[1], ",")...),
		kgo.ConsumerGroup("ship"),
		kgo.ConsumeTopics(os.Args[2]),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.SessionTimeout(8*time.Second),
		kgo.DisableAutoCommit(),
	)
	if err != nil {
		log.Fatal(err)
	}
	for {
		fetches := client.PollRecords(ctx, 200)
		fetches.EachError(func(topic string, partition int32, err error) {
			log.Printf("%s-%d: %v", topic, partition, err)
		})
		var orders []order
		fetches.EachRecord(func(record *kgo.Record) {
			var each order
			if record.Value == nil {
				return
			}
			if err := json.Unmarshal(record.Value, &each); err != nil {
				log.Fatal(err)
			}
			orders = append(orders, each)
		})
		if err := write(ctx, database, orders); err != nil {
			log.Fatal(err)
		}
		if err := client.CommitRecords(ctx, fetches.Records()...); err != nil {
			log.Print(err)
		}
	}
}
